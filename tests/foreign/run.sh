#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs programs for NVIDIA's cuda.core and cuda.bindings, one in C, and one for the CUDA runtime, on the
# simulated device. They know nothing about cudacore; they only get the folder with its simulated
# driver.
#
# usage: run.sh PYTHON FOLDER
#   PYTHON  an interpreter that has cudacore
#   FOLDER  where to create the virtual environment for the programs
set -euo pipefail
(($# == 2)) || {
  echo "usage: $0 PYTHON FOLDER" >&2
  exit 2
}
readonly python=$1 work=$2
cd "$(dirname "${BASH_SOURCE[0]}")"

driver=$("$python" -m cudacore simulator-path)
[[ -e $driver/libcuda.so.1 ]] || {
  echo "there is no libcuda.so.1 in $driver" >&2
  exit 1
}
unset PYTHONPATH CUDACORE_DRIVER
# Not a child of PYTHON's environment, because cudacore must not be available.
base=$("$python" -c 'import sys; print(getattr(sys, "_base_executable", sys.executable))')
"$base" -m venv --clear "$work"
"$work/bin/python" -m pip install --quiet --disable-pip-version-check \
  'cuda-core[cu13]==1.2.*' 'cuda-bindings==13.*' numba numpy pytest
! "$work/bin/python" -c 'import cudacore' 2>/dev/null || {
  echo "the environment of the foreign programs has cudacore" >&2
  exit 1
}

export LD_LIBRARY_PATH=$driver CUDACORE_SIMULATOR_DEVICES=2 CUDACORE_SIMULATOR_MEMORY='1 GiB'
# pytest fails if it collects nothing. The options of cudacore's own tests don't apply here.
"$work/bin/python" -m pytest --quiet -c /dev/null --rootdir . -p no:cacheprovider .

# The C program is linked with a stub of libcuda, as with a toolkit: it finds the real one at run time.
readonly cc=${CC:-gcc}
"$cc" -std=c11 -Wall -Wextra -Werror -c -o "$work/driver_program.o" driver_program.c
nm --undefined-only "$work/driver_program.o" | awk '$2 ~ /^cu/ { print "void " $2 "(void) {}" }' |
  "$cc" -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$work/libcuda.so" -x c -
"$cc" -o "$work/driver_program" "$work/driver_program.o" -L"$work" -lcuda
"$work/driver_program" vector_add.ptx

# The program for the CUDA runtime finds a runtime that isn't NVIDIA's. Only nvcc can build the program.
if command -v nvcc >/dev/null; then
  nvcc -std=c++17 -cudart shared -gencode arch=compute_80,code=compute_80 \
    -o "$work/runtime_program" runtime_program.cu
  "$work/runtime_program"
else
  echo "no nvcc: the program of the CUDA runtime is not run" >&2
fi

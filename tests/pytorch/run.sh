#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests with PyTorch: on the GPU if there is one, and otherwise on the simulated device, of which
# PyTorch uses the memory, copies and streams.
#
# usage: run.sh PYTHON [options of pytest]
#   PYTHON  an interpreter that has cudacore, PyTorch and pytest
set -euo pipefail
(($# >= 1)) || {
  echo "usage: $0 PYTHON [options of pytest]" >&2
  exit 2
}
readonly python=$1
shift
cd "$(dirname "${BASH_SOURCE[0]}")"/../..

has_gpu='import cudacore; cudacore.system.get_num_devices() or exit(1)'
if ! CUDACORE_DRIVER=native "$python" -c "$has_gpu" 2>/dev/null; then
  driver=$("$python" -m cudacore simulator-path)
  # PyTorch looks for its own runtime first, so that of the simulated device is loaded before.
  export LD_LIBRARY_PATH=$driver LD_PRELOAD=$driver/libcudart.so.13
  set -- --device=simulator "$@"
fi
exec "$python" -m pytest tests/pytorch "$@"

# SPDX-License-Identifier: Apache-2.0
#
# Finds the folder of cuda.h, version 13.0 or later: the only part of CUDA that a build needs. It comes
# from a toolkit if there is one, otherwise from the wheel nvidia-cuda-runtime.
#
# Sets CUDACORE_CUDA_INCLUDE_DIR; set it on the command line to choose a folder.

function(cudacore_cuda_version directory out)
  set(${out} 0 PARENT_SCOPE)
  if(EXISTS "${directory}/cuda.h")
    file(STRINGS "${directory}/cuda.h" line REGEX "^#define CUDA_VERSION [0-9]+")
    if(line MATCHES "CUDA_VERSION ([0-9]+)")
      set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
    endif()
  endif()
endfunction()

if(NOT CUDACORE_CUDA_INCLUDE_DIR)
  set(candidates "")
  foreach(root IN ITEMS "$ENV{CUDA_PATH}" "$ENV{CUDA_HOME}" "/usr/local/cuda")
    if(root)
      list(APPEND candidates "${root}/include")
    endif()
  endforeach()
  find_package(Python COMPONENTS Interpreter QUIET)
  if(Python_Interpreter_FOUND)
    execute_process(
      COMMAND
        ${Python_EXECUTABLE} -c
        "import importlib.util as u; s = u.find_spec('nvidia'); print(';'.join(p + '/cu13/include' for p in s.submodule_search_locations) if s else '')"
      OUTPUT_VARIABLE wheels OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND candidates ${wheels})
  endif()
  foreach(candidate IN LISTS candidates)
    cudacore_cuda_version("${candidate}" version)
    if(version GREATER_EQUAL 13000)
      set(CUDACORE_CUDA_INCLUDE_DIR "${candidate}" CACHE PATH "Folder of cuda.h")
      break()
    endif()
  endforeach()
endif()

cudacore_cuda_version("${CUDACORE_CUDA_INCLUDE_DIR}" version)
if(version LESS 13000)
  message(FATAL_ERROR "cudacore needs cuda.h of CUDA 13.0 or later. Install the toolkit, or "
                      "'pip install nvidia-cuda-runtime', or set CUDACORE_CUDA_INCLUDE_DIR. "
                      "Looked in: ${candidates}")
endif()
message(STATUS "cuda.h: ${CUDACORE_CUDA_INCLUDE_DIR} (${version})")

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <cudacore/memory_resource.hpp>

// Memory resources as PyTorch's allocator (torch.cuda.memory.CUDAPluggableAllocator), which finds C
// functions by their names in a library: the extension module exports them.
//
//   void* cudacore_torch_allocate_<slot>(ssize_t size, int device, cudaStream_t stream);
//   void cudacore_torch_free(void* pointer, ssize_t size, int device, cudaStream_t stream);
//   void cudacore_torch_record_stream(void* pointer, cudaStream_t stream);
//
// PyTorch passes them no pointer of ours, so each set of resources has a function of its own.

namespace cudacore::bindings {

/// What PyTorch uses the functions for:
///
///   pool       A pool of its caching allocator (torch.cuda.MemPool). It calls with a mutex locked
///              that any thread may wait for with the GIL held, such as one that frees a tensor. So
///              a call neither takes nor releases the GIL. If memory is short, it expects null,
///              frees what it has cached and tries again.
///   allocator  They replace the caching allocator. It calls with no mutex locked. It takes what it
///              gets without a look, so only an exception tells that memory is short. It calls
///              from C++, with no C in between.
enum class TorchRole { pool, allocator };

/// The slot of these resources, one for each device that PyTorch may ask for; kept forever.
/// For a pool, none of them may run Python code.
/// @throw std::length_error if all slots are taken.
[[nodiscard]] int torch_slot(std::vector<std::shared_ptr<MemoryResource>> resources,
                             TorchRole role);

}  // namespace cudacore::bindings

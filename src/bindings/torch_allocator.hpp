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

/// What to do about memory that cannot be had. A pool of PyTorch's caching allocator
/// (torch.cuda.MemPool) expects null, frees what it has cached and tries again. Where the resource
/// replaces the caching allocator, PyTorch takes what it gets without a look: only an exception
/// stops it. It calls from C++, with no C in between.
enum class WhenShort { return_null, throw_error };

/// The slot of these resources, one for each device that PyTorch may ask for; kept forever.
/// @throw std::length_error if all slots are taken.
[[nodiscard]] int torch_slot(std::vector<std::shared_ptr<MemoryResource>> resources,
                             WhenShort when_short);

}  // namespace cudacore::bindings

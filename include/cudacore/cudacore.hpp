// SPDX-License-Identifier: Apache-2.0
#pragma once

// The whole public API: a checked CUDA runtime over the driver API, NVRTC and nvJitLink. Nothing is
// linked or loaded before its first use, and a program that only compiles never needs a driver.

#include <cudacore/buffer.hpp>
#include <cudacore/cache.hpp>
#include <cudacore/caching_memory_resource.hpp>
#include <cudacore/checkpoint.hpp>
#include <cudacore/context.hpp>
#include <cudacore/copy_options.hpp>
#include <cudacore/device.hpp>
#include <cudacore/device_memory_resource.hpp>
#include <cudacore/device_resources.hpp>
#include <cudacore/error.hpp>
#include <cudacore/event.hpp>
#include <cudacore/external_memory.hpp>
#include <cudacore/external_semaphore.hpp>
#include <cudacore/fatbin.hpp>
#include <cudacore/graph.hpp>
#include <cudacore/graph_builder.hpp>
#include <cudacore/graph_condition.hpp>
#include <cudacore/graph_definition.hpp>
#include <cudacore/graph_memory_resource.hpp>
#include <cudacore/graph_node.hpp>
#include <cudacore/graph_work.hpp>
#include <cudacore/graphics_resource.hpp>
#include <cudacore/host_registration.hpp>
#include <cudacore/kernel.hpp>
#include <cudacore/launch.hpp>
#include <cudacore/launch_attributes.hpp>
#include <cudacore/legacy_pinned_memory_resource.hpp>
#include <cudacore/linker.hpp>
#include <cudacore/managed_buffer.hpp>
#include <cudacore/managed_memory_resource.hpp>
#include <cudacore/memory_location.hpp>
#include <cudacore/memory_resource.hpp>
#include <cudacore/mipmapped_array.hpp>
#include <cudacore/multicast.hpp>
#include <cudacore/object_code.hpp>
#include <cudacore/opaque_array.hpp>
#include <cudacore/pinned_memory_resource.hpp>
#include <cudacore/pool_memory_resource.hpp>
#include <cudacore/program.hpp>
#include <cudacore/signature.hpp>
#include <cudacore/stream.hpp>
#include <cudacore/stream_attributes.hpp>
#include <cudacore/stream_value.hpp>
#include <cudacore/strided_memory.hpp>
#include <cudacore/surface_object.hpp>
#include <cudacore/synchronous_memory_resource.hpp>
#include <cudacore/system.hpp>
#include <cudacore/tensor_map.hpp>
#include <cudacore/texture_object.hpp>
#include <cudacore/virtual_memory_resource.hpp>

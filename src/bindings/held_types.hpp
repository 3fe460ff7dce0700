// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "cudacore/cudacore.hpp"

// The types whose values lie in the Python objects that show them; see heap_type.hpp.

namespace cudacore::bindings {

template <typename T>
struct Closable;
struct ContextLimits;
struct DeviceProperties;
struct KernelAttributes;
struct KernelOccupancy;
struct Launcher;
struct GraphMemoryAttributes;
struct PoolAttributes;
struct PyDevice;
struct PyGraphics;
struct PySurface;
struct PyTexture;
struct StridedView;
struct TensorMapObject;

template <typename T, typename... Types>
inline constexpr bool is_one_of = (std::is_same_v<std::remove_cvref_t<T>, Types> || ...);

template <typename T>
inline constexpr bool is_held =
    is_one_of<T, AccessPolicyWindow, Buffer, Context, ContextLimits, CopyOptions, DeviceResources,
              Event, ExternalMemory, ExternalSemaphore, Graph, GraphBuilder, GraphCondition,
              GraphDefinition, GraphMemoryAttributes, GraphNode, GraphWork, Kernel, LaunchConfig,
              Launcher, MipmappedArray, ObjectCode, OpaqueArray, Param, Signature, SMResource,
              Stream, StreamAttributes, WorkqueueResource, PyDevice, PyGraphics, PySurface,
              PyTexture, Closable<Linker>, Closable<Program>, DeviceProperties, KernelAttributes,
              KernelOccupancy, PoolAttributes, DeviceMemoryResourceOptions, EventOptions,
              LinkerOptions, ManagedMemoryResourceOptions, MemoryLocation,
              PinnedMemoryResourceOptions, ProgramOptions, StreamOptions, StridedView,
              TensorMapObject, VirtualMemoryResourceOptions>;

/// Whether Python classes may derive from T's type.
template <typename T>
inline constexpr bool is_subclassable = is_one_of<T, Buffer, Stream>;

}  // namespace cudacore::bindings

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "error/context_box.hpp"
#include "launch/packing.hpp"
#include "owner/owned_handles.hpp"

// A kernel, with everything that a launch needs to know: how its arguments are packed, and its
// function and limits on each device. Keeps its library loaded.

namespace cudacore::launching {

/// What a launch must know about a kernel on one device; filled on the first launch there.
struct KernelOnDevice {
  CUcontext context = nullptr;  ///< where `function` is valid
  CUfunction function = nullptr;
  unsigned max_threads = 0;  ///< for this kernel, as limited by its registers
  std::size_t static_shmem = 0;
  std::atomic<std::size_t> dynamic_shmem{0};  ///< what has been opted in to so far
};

struct KernelBox : driver::NotCopied {
  std::shared_ptr<owner::LibraryBox> library;
  CUkernel kernel = nullptr;
  Signature signature;
  PackingPlan plan;            ///< made from the signature
  bool has_signature = false;  ///< false: nothing is known, not even the number of parameters
  std::string name;
  const char* interned_name = nullptr;
  std::array<std::atomic<KernelOnDevice*>, error::ContextBox::max_devices> on_device{};
  ~KernelBox();

  /// Sets the signature and makes the packing plan from it.
  void set_signature(Signature value);
  /// "kernel axpy<float>, device 0 (NVIDIA H200)"
  [[nodiscard]] std::string describe_on(int device) const;
  /// The state for a context's device, which is resolved on first use.
  [[nodiscard]] KernelOnDevice& on(const error::ContextBox& context) {
    KernelOnDevice* state =
        on_device[static_cast<std::size_t>(context.device)].load(std::memory_order_acquire);
    return state != nullptr ? *state : resolve(context);
  }

 private:
  KernelOnDevice& resolve(const error::ContextBox& context);
};

}  // namespace cudacore::launching

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "driver/not_copied.hpp"
#include "error/idle_events.hpp"
#include "error/launch_history.hpp"

// The contexts that this process has seen, what was launched in each, and whether an error has
// ended it. A context's box lives forever, so that references to it are never wrong; that of a
// green context of ours as long as that does, or as anybody shares it.

namespace cudacore::error {

/// The limits that launches are checked against, read once.
struct DeviceLimits {
  std::array<unsigned, 3> block{};
  std::array<unsigned, 3> grid{};
  unsigned threads_per_block = 0;
  std::size_t shmem_per_block = 0;        ///< without opting in
  std::size_t shmem_per_block_optin = 0;  ///< after opting in
  bool cluster_launch = false;
  bool cooperative_launch = false;
  std::size_t access_policy_window = 0;  ///< the largest, in bytes; 0: there are none
  std::size_t persisting_l2 = 0;         ///< the most of the L2 cache that can be set aside
};

struct ContextBox {
  static constexpr int max_devices = 64;  ///< the maximum for a process

  CUcontext context = nullptr;
  int device = 0;
  unsigned long long id = 0;  ///< cuCtxGetId: differs from that of its successor after a reset
  DeviceLimits limits;
  bool is_green = false;
  std::weak_ptr<void> green;  ///< what destroys a green context of ours, once nothing uses it
  LaunchHistory history;
  std::atomic<bool> lost{false};
  std::string lost_reason;  ///< written once, before `lost` is set
  int lost_code = 0;        ///< the driver's code, written with lost_reason
  IdleEvents idle_events;
  /// Whether memory was returned to a pool since the driver last waited.
  std::atomic<bool> freed_to_pool{false};

  [[nodiscard]] bool take_freed_to_pool() noexcept {
    return freed_to_pool.load(std::memory_order_relaxed) &&
           freed_to_pool.exchange(false, std::memory_order_relaxed);
  }
};

/// The primary context of a device, retained on first use, never released. Callable from any
/// thread.
[[nodiscard]] const std::shared_ptr<ContextBox>& primary_context(int device);
/// The box of the calling thread's current context. If there is none, makes device 0's primary
/// context current. The reference serves while the context is current.
[[nodiscard]] const std::shared_ptr<ContextBox>& current_context();
/// The box of a context that was made elsewhere; always the same box for the same context.
[[nodiscard]] std::shared_ptr<ContextBox> context_box(CUcontext context);
/// The box of a green context that was just made, which `green` destroys.
[[nodiscard]] std::shared_ptr<ContextBox> green_context_box(CUcontext context,
                                                            const std::shared_ptr<void>& green);
/// The same box; if it is that of a green context of ours, a pointer that keeps that alive.
[[nodiscard]] std::shared_ptr<ContextBox> with_green_share(
    std::shared_ptr<ContextBox> context) noexcept;
/// Marks a green context as lost, because nothing uses it any more, and forgets it.
void forget_green(ContextBox& context) noexcept;
/// Whether the driver still has the context: other code may have destroyed it, or reset its device.
[[nodiscard]] bool is_alive(const driver::DriverApi& api, const ContextBox& context) noexcept;
/// Refuses a context that is lost, or that the driver no longer has, which marks it as lost.
/// @throw ContextLostError
void throw_if_ended(const driver::DriverApi& api, ContextBox& context);
/// Marks every context that this process has seen as lost, because `function` has destroyed them,
/// and asks the driver for new ones from now on.
void forget_contexts(const char* function);
/// The same, but only for contexts that have been destroyed: other threads may have made new ones
/// since.
void forget_ended_contexts(const char* function);
/// Whether a context was forgotten by forget_contexts(): nothing that it owned is left.
[[nodiscard]] bool is_forgotten(const ContextBox& context) noexcept;
/// Every context that this process has seen, except those passed to forget_contexts().
[[nodiscard]] std::vector<std::shared_ptr<ContextBox>> known_contexts();

/// How many times contexts were forgotten.
inline constinit std::atomic<unsigned> resets{0};

/// Makes a context current for a scope. If no context was current before, it stays current
/// afterwards.
class ContextScope : driver::NotCopied {
 public:
  ContextScope(const driver::DriverApi& api, const ContextBox& context);
  ~ContextScope();

 private:
  const driver::DriverApi* api_;
  CUcontext previous_ = nullptr;
  bool restore_ = false;
};

}  // namespace cudacore::error

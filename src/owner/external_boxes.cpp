// SPDX-License-Identifier: Apache-2.0
#include "owner/external_boxes.hpp"

#include <algorithm>

#include "error/sticky.hpp"
#include "error/unraisable.hpp"
#include "owner/callback.hpp"
#include "owner/end_scope.hpp"

namespace cudacore::owner {
namespace {

using SemaphoreUses = std::vector<std::shared_ptr<EventBox>>;

void destroy_semaphore(const driver::DriverApi& api, CUexternalSemaphore semaphore) noexcept {
  const CUresult result = api.cuDestroyExternalSemaphore(semaphore);
  if (result != CUDA_SUCCESS) error::report_unraisable(result, "cuDestroyExternalSemaphore");
}

/// Whether work may still use a semaphore.
bool is_used(const driver::DriverApi& api, const SemaphoreUses& uses) {
  return std::ranges::any_of(uses, [&](const std::shared_ptr<EventBox>& behind) {
    return api.cuEventQuery(behind->event) == CUDA_ERROR_NOT_READY;
  });
}

}  // namespace

ExternalMemoryBox::~ExternalMemoryBox() {
  if (memory == nullptr) return;
  end_outside_callbacks([memory = memory, context = std::move(context)] {
    const driver::DriverApi* api = driver::api_for_cleanup();
    if (api == nullptr || !error::is_alive(*api, *context)) return;
    const EndScope scope(*api);
    const CUresult result = api->cuDestroyExternalMemory(memory);
    if (result != CUDA_SUCCESS) error::report_unraisable(result, "cuDestroyExternalMemory");
  });
}

void ExternalSemaphoreBox::add_use(const driver::DriverApi& api, std::shared_ptr<EventBox> behind) {
  const std::scoped_lock lock(mutex_);
  const OutsideCaptures outside(api);
  std::erase_if(uses_, [&](const std::shared_ptr<EventBox>& known) {
    return api.cuEventQuery(known->event) == CUDA_SUCCESS;
  });
  uses_.push_back(std::move(behind));
}

ExternalSemaphoreBox::~ExternalSemaphoreBox() {
  if (semaphore == nullptr) return;
  end_outside_callbacks(
      [semaphore = semaphore, context = std::move(context), uses = std::move(uses_)] {
        const driver::DriverApi* api = driver::api_for_cleanup();
        if (api == nullptr || !error::is_alive(*api, *context)) return;
        const EndScope scope(*api);
        if (!is_used(*api, uses)) {
          destroy_semaphore(*api, semaphore);
          return;
        }
        // Whoever should signal it may never do so: nobody waits for that.
        try_elsewhere([semaphore, context, uses] {
          const driver::DriverApi* cleanup = driver::api_for_cleanup();
          if (cleanup == nullptr || !error::is_alive(*cleanup, *context)) return true;
          const OutsideCaptures outside(*cleanup);
          if (is_used(*cleanup, uses)) return false;
          destroy_semaphore(*cleanup, semaphore);
          return true;
        });
      });
}

}  // namespace cudacore::owner

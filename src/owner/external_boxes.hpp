// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "owner/owned_handles.hpp"

// What other APIs exported, and a context imported; see owned_handles.hpp.

namespace cudacore::owner {

struct ExternalMemoryBox : driver::NotCopied {
  std::shared_ptr<error::ContextBox> context;
  CUexternalMemory memory = nullptr;
  std::size_t size = 0;
  ~ExternalMemoryBox();
};

struct ExternalSemaphoreBox : driver::NotCopied {
  std::shared_ptr<error::ContextBox> context;
  CUexternalSemaphore semaphore = nullptr;
  bool is_timeline = false;
  /// It is destroyed only after all work that uses it.
  ~ExternalSemaphoreBox();

  /// Remembers an event that is recorded behind work that uses it.
  void add_use(const driver::DriverApi& api, std::shared_ptr<EventBox> behind);

 private:
  std::mutex mutex_;  ///< guards uses_
  std::vector<std::shared_ptr<EventBox>> uses_;
};

}  // namespace cudacore::owner

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "simulator/api/cuda_api.hpp"

namespace cudacore::simulator {

/// A program's own object, which graphs keep alive. When the last reference is given back, its
/// destructor runs on the thread for host functions.
class UserObject {
 public:
  UserObject(void* data, CUhostFn destroy, unsigned references) noexcept
      : data_(data), destroy_(destroy), references_(references) {}

  CUuserObject handle = nullptr;

  void retain(unsigned count) noexcept { references_.fetch_add(count, std::memory_order_relaxed); }
  /// Returns false, and does nothing, if there are fewer references.
  bool release(unsigned count) noexcept;

 private:
  void* data_;
  CUhostFn destroy_;
  std::atomic<unsigned> references_;
};

/// References that a graph holds.
class UserReferences {
 public:
  /// Takes over references.
  UserReferences(std::shared_ptr<UserObject> object, unsigned count) noexcept
      : object_(std::move(object)), count_(count) {}
  UserReferences(const UserReferences& other) noexcept
      : object_(other.object_), count_(other.count_) {
    if (object_ != nullptr) object_->retain(count_);
  }
  UserReferences(UserReferences&& other) noexcept
      : object_(std::move(other.object_)), count_(std::exchange(other.count_, 0)) {}
  UserReferences& operator=(UserReferences other) noexcept {
    std::swap(object_, other.object_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~UserReferences() {
    if (object_ != nullptr && count_ > 0) object_->release(count_);
  }

  [[nodiscard]] const UserObject* object() const noexcept { return object_.get(); }
  [[nodiscard]] unsigned count() const noexcept { return count_; }
  void add(unsigned count) noexcept { count_ += count; }
  /// Gives some back; returns false, and does nothing, if there are fewer.
  bool release(unsigned count) noexcept {
    if (count > count_) return false;
    count_ -= count;
    return object_->release(count);
  }

 private:
  std::shared_ptr<UserObject> object_;
  unsigned count_;
};

}  // namespace cudacore::simulator

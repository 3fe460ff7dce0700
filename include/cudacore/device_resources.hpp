// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <cudacore/context.hpp>
#include <cudacore/device.hpp>
#include <cudacore/stream.hpp>

namespace cudacore {

struct ResourceBox;

/// A group of multiprocessors to split off.
struct SMGroup {
  std::optional<unsigned> count{};     ///< unset: as many as there are
  unsigned coscheduled = 0;            ///< how many must be neighbors; 0 for the default
  unsigned preferred_coscheduled = 0;  ///< how many should be; 0 for the default
  bool backfill = false;               ///< prefer reaching `count` to keeping neighbors together
};

/// Multiprocessors of a device. Copies share one box.
class SMResource {
 public:
  struct Split;

  explicit SMResource(std::shared_ptr<const ResourceBox> box) noexcept : box_(std::move(box)) {}

  [[nodiscard]] unsigned sm_count() const noexcept;
  /// The fewest that a group may have.
  [[nodiscard]] unsigned min_partition_size() const;
  /// How many multiprocessors a group is a multiple of.
  [[nodiscard]] unsigned coscheduled_alignment() const;
  [[nodiscard]] unsigned flags() const noexcept;
  [[nodiscard]] Device device() const noexcept;
  /// The address of the CUdevResource.
  [[nodiscard]] const void* handle() const noexcept;

  /// Splits off groups that share no multiprocessor (cuDevSmResourceSplit; on drivers before CUDA
  /// 13.1, cuDevSmResourceSplitByCount, which makes equal groups alone). A dry run only tells how
  /// large they would be.
  /// @throw std::invalid_argument if there are too few; NotSupportedError
  [[nodiscard]] Split split(std::span<const SMGroup> groups, bool dry_run = false) const;

  [[nodiscard]] const std::shared_ptr<const ResourceBox>& box() const noexcept { return box_; }

 private:
  std::shared_ptr<const ResourceBox> box_;
};

struct SMResource::Split {
  std::vector<SMResource> groups;
  SMResource remainder;  ///< what is left; perhaps of 0 multiprocessors
};

/// Which green contexts share the queues to the device (CUdevWorkqueueConfigScope).
enum class WorkqueueSharingScope : std::uint8_t { device_ctx, green_ctx_balanced };

/// The queues by which work gets to a device. Copies share one box.
class WorkqueueResource {
 public:
  explicit WorkqueueResource(std::shared_ptr<ResourceBox> box) noexcept : box_(std::move(box)) {}

  [[nodiscard]] WorkqueueSharingScope sharing_scope() const;
  /// How many streams are expected to have work at once.
  [[nodiscard]] unsigned concurrency_limit() const;
  [[nodiscard]] Device device() const noexcept;
  [[nodiscard]] const void* handle() const noexcept;
  /// Changes what is set, for contexts made later.
  /// @throw std::invalid_argument for a limit of 0.
  void configure(std::optional<WorkqueueSharingScope> sharing_scope,
                 std::optional<unsigned> concurrency_limit) const;

  [[nodiscard]] const std::shared_ptr<ResourceBox>& box() const noexcept { return box_; }

 private:
  std::shared_ptr<ResourceBox> box_;
};

/// What work may use: of a device, of a context, or of a stream.
class DeviceResources {
 public:
  explicit DeviceResources(const Device& device) : of_(device) {}
  /// @throw std::invalid_argument if it is closed.
  explicit DeviceResources(Context context);
  /// @throw std::invalid_argument if it is closed.
  explicit DeviceResources(Stream stream);

  /// The multiprocessors (cuDeviceGetDevResource, cuCtxGetDevResource, cuStreamGetDevResource).
  /// @throw NotSupportedError if the driver has no green contexts.
  [[nodiscard]] SMResource sm() const;
  /// The queues. For a stream, those of its context.
  /// @throw NotSupportedError if the driver doesn't tell.
  [[nodiscard]] WorkqueueResource workqueue() const;

 private:
  std::variant<Device, Context, Stream> of_;
};

/// How to create a context.
struct ContextOptions {
  /// Multiprocessors, from one split, and perhaps queues.
  std::vector<std::variant<SMResource, WorkqueueResource>> resources{};
};

/// Creates a green context, whose work runs on these multiprocessors alone (cuGreenCtxCreate).
/// @throw std::invalid_argument if there are no resources, if they are of another device, or come
/// from a dry run; NotSupportedError if the driver has no green contexts.
[[nodiscard]] Context create_context(const Device& device, const ContextOptions& options);

}  // namespace cudacore

// SPDX-License-Identifier: Apache-2.0
#include "cudacore/device_resources.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {

/// A resource as the driver knows it.
struct ResourceBox : driver::NotCopied {
  CUdevResource resource{};
  int device = 0;
  bool is_dry_run = false;
  mutable std::mutex mutex;  ///< guards `resource` of queues, which can be set
};

namespace {

constexpr auto workqueue_type = static_cast<CUdevResourceType>(1000);  // since CUDA 13.1
constexpr unsigned backfill_flag = 1;

// What the resources contain, of which cuda.h of CUDA 13.0 doesn't know everything.
struct SmFields {
  unsigned count;
  unsigned min_partition_size;
  unsigned alignment;
  unsigned flags;
};
struct QueueFields {
  int device;
  unsigned concurrency_limit;
  int sharing_scope;
};

template <typename Fields>
Fields fields_of(const CUdevResource& resource) noexcept {
  Fields fields{};
  std::memcpy(&fields, reinterpret_cast<const char*>(&resource) + offsetof(CUdevResource, sm),
              sizeof(fields));
  return fields;
}

template <typename Fields>
void set_fields(CUdevResource& resource, const Fields& fields) noexcept {
  std::memcpy(reinterpret_cast<char*>(&resource) + offsetof(CUdevResource, sm), &fields,
              sizeof(fields));
}

std::shared_ptr<ResourceBox> new_box(int device) {
  auto box = std::make_shared<ResourceBox>();
  box->device = device;
  return box;
}

/// A function of the driver that older ones lack.
template <typename Function>
Function required(Function function, const char* name, int since) {
  if (function == nullptr) driver::throw_missing_symbol(name, since);
  return function;
}

/// @throw NotSupportedError if the driver is too old to know the resource.
void require_known(CUresult result, CUdevResourceType type, const char* function) {
  if (result != CUDA_ERROR_INVALID_RESOURCE_TYPE || type != workqueue_type) return;
  driver::throw_missing_symbol((std::string(function) + " of a work queue").c_str(), 13010);
}

std::shared_ptr<ResourceBox> query(const Device& device, CUdevResourceType type) {
  const driver::DriverApi& api = driver::api();
  auto box = new_box(device.id());
  const auto function = required(api.cuDeviceGetDevResource, "cuDeviceGetDevResource", 12040);
  const CUresult result = function(device.id(), &box->resource, type);
  require_known(result, type, "cuDeviceGetDevResource");
  error::check(result, "cuDeviceGetDevResource",
               [&] { return error::describe_device(device.id()); });
  return box;
}

std::shared_ptr<ResourceBox> query(const Context& context, CUdevResourceType type) {
  const ContextCall call(
      (static_cast<void>(owner::require_open(context.box(), "Context")), context.box()));
  auto box = new_box(call.context()->device);
  const auto function = required(call.api().cuCtxGetDevResource, "cuCtxGetDevResource", 12040);
  const CUresult result = function(call.context()->context, &box->resource, type);
  require_known(result, type, "cuCtxGetDevResource");
  call.check(result, "cuCtxGetDevResource",
             [&] { return "a context of " + error::describe_device(box->device); });
  return box;
}

std::shared_ptr<ResourceBox> query(const Stream& stream, CUdevResourceType type) {
  const StreamCall call(require_open(stream.box(), "Stream"));
  const auto function = call.api().cuStreamGetDevResource;
  if (function == nullptr || type != CU_DEV_RESOURCE_TYPE_SM) return query(stream.context(), type);
  auto box = new_box(call.context()->device);
  call.check(function(call.stream(), &box->resource, type), "cuStreamGetDevResource");
  return box;
}

/// The fewest multiprocessors of a group, and what their number is a multiple of, where the driver
/// doesn't say.
std::pair<unsigned, unsigned> usual_granularity(int device) {
  const int major = Device::from_known_ordinal(device).compute_capability().major;
  if (major >= 9) return {8, 8};
  return {major == 8 ? 4 : 2, 2};
}

std::string describe(const ResourceBox& box) {
  return std::to_string(fields_of<SmFields>(box.resource).count) + " multiprocessors of " +
         error::describe_device(box.device);
}

void check_groups(const ResourceBox& box, std::span<const SMGroup> groups) {
  if (groups.empty()) throw std::invalid_argument("a split needs at least one group");
  if (box.is_dry_run) {
    throw std::invalid_argument("a dry-run SMResource cannot be split: it only tells a size");
  }
  const std::uint64_t wanted = std::accumulate(
      groups.begin(), groups.end(), std::uint64_t{0},
      [](std::uint64_t sum, const SMGroup& group) { return sum + group.count.value_or(0); });
  if (wanted > fields_of<SmFields>(box.resource).count) {
    throw std::invalid_argument("a split into groups of " + std::to_string(wanted) +
                                " multiprocessors together is more than the " + describe(box));
  }
}

/// What cuDevSmResourceSplitByCount is told.
unsigned common_count(std::span<const SMGroup> groups, const ResourceBox& box) {
  const auto is_plain = [&](const SMGroup& group) {
    return group.count == groups[0].count && group.coscheduled == 0 &&
           group.preferred_coscheduled == 0 && !group.backfill;
  };
  for (const SMGroup& group : groups) {
    if (!is_plain(group)) {
      throw NotSupportedError(
          "the driver has no cuDevSmResourceSplit (CUDA 13.1), and the older "
          "cuDevSmResourceSplitByCount makes groups of one count, without coscheduled_sm_count, "
          "preferred_coscheduled_sm_count and backfill");
    }
  }
  if (groups[0].count.value_or(0) != 0) return *groups[0].count;
  const auto all = fields_of<SmFields>(box.resource);
  const unsigned step = all.alignment != 0 ? all.alignment : usual_granularity(box.device).second;
  return all.count / static_cast<unsigned>(groups.size()) / step * step;
}

struct Parts {
  std::vector<CUdevResource> groups;
  CUdevResource remainder{};
};

Parts split_by_count(const driver::DriverApi& api, const ResourceBox& box,
                     std::span<const SMGroup> groups) {
  const auto function =
      required(api.cuDevSmResourceSplitByCount, "cuDevSmResourceSplitByCount", 12040);
  const unsigned count = common_count(groups, box);
  Parts parts{std::vector<CUdevResource>(groups.size()), {}};
  auto made = static_cast<unsigned>(groups.size());
  error::check(function(parts.groups.data(), &made, &box.resource, &parts.remainder, 0, count),
               "cuDevSmResourceSplitByCount", [&] { return describe(box); });
  if (made < groups.size()) {
    throw std::invalid_argument("a split of " + describe(box) + " makes " + std::to_string(made) +
                                " groups of " + std::to_string(count) + ", not " +
                                std::to_string(groups.size()));
  }
  return parts;
}

Parts split_structured(const driver::DriverApi& api, const ResourceBox& box,
                       std::span<const SMGroup> groups, bool dry_run) {
  std::vector<CU_DEV_SM_RESOURCE_GROUP_PARAMS> wanted(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    wanted[i].smCount = groups[i].count.value_or(0);
    wanted[i].coscheduledSmCount = groups[i].coscheduled;
    wanted[i].preferredCoscheduledSmCount = groups[i].preferred_coscheduled;
    wanted[i].flags = groups[i].backfill ? backfill_flag : 0;
  }
  Parts parts{std::vector<CUdevResource>(groups.size()), {}};
  error::check(api.cuDevSmResourceSplit(dry_run ? nullptr : parts.groups.data(),
                                        static_cast<unsigned>(groups.size()), &box.resource,
                                        &parts.remainder, 0, wanted.data()),
               "cuDevSmResourceSplit", [&] { return describe(box); });
  for (std::size_t i = 0; dry_run && i < groups.size(); ++i) {
    auto fields = fields_of<SmFields>(box.resource);
    fields.count = wanted[i].smCount;
    fields.flags = wanted[i].flags;
    if (wanted[i].coscheduledSmCount != 0) fields.alignment = wanted[i].coscheduledSmCount;
    parts.groups[i].type = CU_DEV_RESOURCE_TYPE_SM;
    set_fields(parts.groups[i], fields);
  }
  return parts;
}

const ResourceBox& box_of(const std::variant<SMResource, WorkqueueResource>& resource) {
  return std::visit([](const auto& one) -> const ResourceBox& { return *one.box(); }, resource);
}

CUdevResource checked_resource(const ResourceBox& box, const Device& device) {
  if (box.device != device.id()) {
    throw std::invalid_argument("resources are of device " + std::to_string(box.device) +
                                ", and the context is to be of device " +
                                std::to_string(device.id()));
  }
  if (box.is_dry_run) {
    throw std::invalid_argument(
        "a dry-run SMResource has no multiprocessors: split again, without dry_run");
  }
  const std::scoped_lock lock(box.mutex);
  const bool is_sm = box.resource.type != workqueue_type;
  if (is_sm && fields_of<SmFields>(box.resource).count == 0) {
    throw std::invalid_argument("an SMResource of no multiprocessors makes no context");
  }
  return box.resource;
}

}  // namespace

unsigned SMResource::sm_count() const noexcept { return fields_of<SmFields>(box_->resource).count; }
unsigned SMResource::flags() const noexcept { return fields_of<SmFields>(box_->resource).flags; }
Device SMResource::device() const noexcept { return Device::from_known_ordinal(box_->device); }
const void* SMResource::handle() const noexcept { return &box_->resource; }

unsigned SMResource::min_partition_size() const {
  const unsigned size = fields_of<SmFields>(box_->resource).min_partition_size;
  return size != 0 ? size : usual_granularity(box_->device).first;
}

unsigned SMResource::coscheduled_alignment() const {
  const unsigned alignment = fields_of<SmFields>(box_->resource).alignment;
  return alignment != 0 ? alignment : usual_granularity(box_->device).second;
}

SMResource::Split SMResource::split(std::span<const SMGroup> groups, bool dry_run) const {
  check_groups(*box_, groups);
  const driver::DriverApi& api = driver::api();
  const Parts parts = api.cuDevSmResourceSplit != nullptr
                          ? split_structured(api, *box_, groups, dry_run)
                          : split_by_count(api, *box_, groups);
  const auto made = [&](const CUdevResource& resource) {
    auto box = new_box(box_->device);
    box->resource = resource;
    box->is_dry_run = dry_run;
    return SMResource(std::move(box));
  };
  Split split{{}, made(parts.remainder)};
  for (const CUdevResource& group : parts.groups) split.groups.push_back(made(group));
  return split;
}

WorkqueueSharingScope WorkqueueResource::sharing_scope() const {
  const std::scoped_lock lock(box_->mutex);
  return static_cast<WorkqueueSharingScope>(fields_of<QueueFields>(box_->resource).sharing_scope);
}

unsigned WorkqueueResource::concurrency_limit() const {
  const std::scoped_lock lock(box_->mutex);
  return fields_of<QueueFields>(box_->resource).concurrency_limit;
}

Device WorkqueueResource::device() const noexcept {
  return Device::from_known_ordinal(box_->device);
}
const void* WorkqueueResource::handle() const noexcept { return &box_->resource; }

void WorkqueueResource::configure(std::optional<WorkqueueSharingScope> sharing_scope,
                                  std::optional<unsigned> concurrency_limit) const {
  if (concurrency_limit == 0U) throw std::invalid_argument("concurrency_limit must be >= 1, not 0");
  const std::scoped_lock lock(box_->mutex);
  auto fields = fields_of<QueueFields>(box_->resource);
  if (sharing_scope) fields.sharing_scope = static_cast<int>(*sharing_scope);
  if (concurrency_limit) fields.concurrency_limit = *concurrency_limit;
  set_fields(box_->resource, fields);
}

DeviceResources::DeviceResources(Context context) : of_(std::move(context)) {
  static_cast<void>(owner::require_open(std::get<Context>(of_).box(), "Context"));
}
DeviceResources::DeviceResources(Stream stream) : of_(std::move(stream)) {
  static_cast<void>(require_open(std::get<Stream>(of_).box(), "Stream"));
}

SMResource DeviceResources::sm() const {
  return SMResource(
      std::visit([](const auto& of) { return query(of, CU_DEV_RESOURCE_TYPE_SM); }, of_));
}

WorkqueueResource DeviceResources::workqueue() const {
  return WorkqueueResource(
      std::visit([](const auto& of) { return query(of, workqueue_type); }, of_));
}

Context create_context(const Device& device, const ContextOptions& options) {
  if (options.resources.empty()) {
    throw std::invalid_argument(
        "resources must be provided: a context is made of multiprocessors, from "
        "Device.resources.sm.split()");
  }
  auto box = std::make_shared<owner::GreenBox>();
  std::vector<CUdevResource> resources;
  for (const auto& resource : options.resources) {
    const ResourceBox& given = box_of(resource);
    if (std::ranges::any_of(box->resources, [&](const auto& one) { return one.get() == &given; })) {
      throw std::invalid_argument("the same resource is given twice");
    }
    resources.push_back(checked_resource(given, device));
    box->resources.push_back(std::visit(
        [](const auto& one) { return std::shared_ptr<const void>(one.box()); }, resource));
  }
  const ContextCall call(error::primary_context(device.id()));
  const driver::DriverApi& api = call.api();
  const auto describe_it = [&] {
    return "a green context of " + error::describe_device(device.id());
  };
  const auto generate = required(api.cuDevResourceGenerateDesc, "cuDevResourceGenerateDesc", 12040);
  const auto create = required(api.cuGreenCtxCreate, "cuGreenCtxCreate", 12040);
  const auto convert = required(api.cuCtxFromGreenCtx, "cuCtxFromGreenCtx", 12040);
  CUdevResourceDesc descriptor = nullptr;
  call.check(generate(&descriptor, resources.data(), static_cast<unsigned>(resources.size())),
             "cuDevResourceGenerateDesc", describe_it);
  CUgreenCtx green = nullptr;
  call.check(create(&green, descriptor, device.id(), CU_GREEN_CTX_DEFAULT_STREAM),
             "cuGreenCtxCreate", describe_it);
  box->green = green;
  CUcontext context = nullptr;
  call.check(convert(&context, green), "cuCtxFromGreenCtx", describe_it);
  box->context = error::green_context_box(context, box);
  return Context(box->context);
}

}  // namespace cudacore

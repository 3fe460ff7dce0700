// SPDX-License-Identifier: Apache-2.0
//
// Green contexts, limits of contexts, and attributes of streams and launches, on the fake driver.
#include <gtest/gtest.h>

#include "context_test_support.hpp"
#include "cudacore/device_resources.hpp"
#include "cudacore/error.hpp"
#include "cudacore/launch.hpp"
#include "cudacore/stream_attributes.hpp"
#include "launch/attribute_box.hpp"
#include "messages.hpp"

namespace cudacore {
namespace {

using testing::ContextTest;
using testing::FakeDriver;
using testing::FakeKernel;
using testing::message_of;

class GreenContexts : public ContextTest {
 protected:
  static SMResource::Split split(std::vector<SMGroup> groups, bool dry_run = false) {
    return DeviceResources(Device(0)).sm().split(groups, dry_run);
  }
  static Context make(unsigned count = 16) {
    const SMResource::Split parts = split({SMGroup{.count = count}});
    return create_context(Device(0), {.resources = {parts.groups[0]}});
  }
};

TEST_F(GreenContexts, LiveAsLongAsWhatIsMadeInThem) {
  Context context = make();
  EXPECT_TRUE(context.is_green());
  std::optional<Stream> stream(std::in_place, context, StreamOptions{});
  EXPECT_EQ(fake.count("cuGreenCtxStreamCreate"), 1);
  std::optional<Event> event(stream->record());
  EXPECT_EQ(event->context(), context);
  EXPECT_EQ(stream->context(), context);
  context.close();
  EXPECT_TRUE(context.is_closed());
  EXPECT_TRUE(stream->context().is_green());
  stream.reset();
  EXPECT_EQ(fake.live("green context"), 1);
  event.reset();
  EXPECT_EQ(fake.live("green context"), 0);
  EXPECT_EQ(fake.live("event"), 0);  // none is kept for reuse
  EXPECT_EQ(fake.misuses(), 0);
}

TEST_F(GreenContexts, LeaveNothingBehind) {
  std::vector<std::weak_ptr<error::ContextBox>> boxes;
  for (const bool is_current : {false, true, false}) {
    Context context = make();
    boxes.push_back(error::context_box(context.handle()));
    const Event event = Stream(context, StreamOptions{}).record();
    if (is_current) {
      context.set_current();
      EXPECT_EQ(Context::current(), context);
      Device(0).context().set_current();
    }
  }
  EXPECT_EQ(fake.live("green context"), 0);
  for (const auto& box : boxes) EXPECT_TRUE(box.expired());
  EXPECT_EQ(Context::current(), Device(0).context());
}

TEST_F(GreenContexts, LeaveNothingBehindIfTheirDeviceIsReset) {
  std::optional<Context> context(make());
  const std::weak_ptr<error::ContextBox> box = error::context_box(context->handle());
  reset();
  context.reset();
  EXPECT_TRUE(box.expired());
}

TEST_F(GreenContexts, OlderDriversHaveNoWorkQueues) {
  fake.fail_function("cuDeviceGetDevResource", CUDA_ERROR_INVALID_RESOURCE_TYPE);
  const DeviceResources resources(Device(0));
  EXPECT_THROW((void)resources.sm(), InvalidValueError);
  EXPECT_NE(message_of<NotSupportedError>([&] {
              (void)resources.workqueue();
            }).find("of a work queue needs a driver of CUDA 13.1"),
            std::string::npos);
  fake.clear_faults();
}

TEST_F(GreenContexts, StayAliveWhileCurrent) {
  {
    const Context context = make();
    context.set_current();
    EXPECT_EQ(Context::current(), context);
  }
  EXPECT_EQ(fake.live("green context"), 1);
  EXPECT_TRUE(Context::current().is_green());
  Device(0).context().set_current();
  EXPECT_EQ(fake.live("green context"), 0);
}

TEST_F(GreenContexts, AreNotClosedWhileCurrent) {
  Context context = make();
  context.set_current();
  EXPECT_THROW(context.close(), std::logic_error);
  Device(0).context().set_current();
  context.close();
  EXPECT_NE(message_of<std::invalid_argument>([&] { (void)context.handle(); }).find("closed"),
            std::string::npos);
  EXPECT_THROW((Stream(context, StreamOptions{})), std::invalid_argument);
  EXPECT_THROW((DeviceResources(context)), std::invalid_argument);
}

TEST_F(GreenContexts, ClosingAPrimaryContextChangesNothing) {
  Context context = Device(0).context();
  context.close();
  EXPECT_FALSE(context.is_closed());
}

TEST_F(GreenContexts, RefuseBlockingStreams) {
  const Context context = make();
  EXPECT_THROW((Stream(context, {.nonblocking = false})), std::invalid_argument);
}

TEST_F(GreenContexts, NeedResourcesOfTheirDevice) {
  EXPECT_THROW((void)create_context(Device(0), {}), std::invalid_argument);
  const SMResource::Split parts = split({SMGroup{.count = 16}});
  EXPECT_THROW((void)create_context(Device(1), {.resources = {parts.groups[0]}}),
               std::invalid_argument);
  const SMResource::Split dry = split({SMGroup{.count = 16}}, true);
  EXPECT_THROW((void)create_context(Device(0), {.resources = {dry.groups[0]}}),
               std::invalid_argument);
  const SMResource::Split all = split({SMGroup{.count = 132}});
  EXPECT_EQ(all.remainder.sm_count(), 0U);
  EXPECT_THROW((void)create_context(Device(0), {.resources = {all.remainder}}),
               std::invalid_argument);
  EXPECT_EQ(fake.count("cuGreenCtxCreate"), 0);
}

TEST_F(GreenContexts, SplitsAreCheckedAndCounted) {
  EXPECT_THROW((void)split({}), std::invalid_argument);
  EXPECT_THROW((void)split({SMGroup{.count = 128}, SMGroup{.count = 8}}), std::invalid_argument);
  EXPECT_EQ(fake.count("cuDevSmResourceSplit"), 0);
  const SMResource::Split parts = split({SMGroup{.count = 24}, SMGroup{}});
  EXPECT_EQ(parts.groups[0].sm_count(), 24U);
  EXPECT_EQ(parts.groups[1].sm_count(), 104U);
  EXPECT_EQ(parts.remainder.sm_count(), 4U);
  EXPECT_EQ(split({SMGroup{}}, true).groups[0].sm_count(), 128U);
}

TEST_F(GreenContexts, OlderDriversMakeEqualGroups) {
  auto& table = fake.table();
  const auto newer = std::exchange(table.cuDevSmResourceSplit, nullptr);
  const SMResource::Split parts = split({SMGroup{.count = 20}, SMGroup{.count = 20}});
  EXPECT_EQ(parts.groups[1].sm_count(), 24U);
  EXPECT_EQ(parts.remainder.sm_count(), 84U);
  EXPECT_EQ(split({SMGroup{}}).groups[0].sm_count(), 128U);
  EXPECT_THROW((void)split({SMGroup{.count = 8}, SMGroup{.count = 16}}), NotSupportedError);
  EXPECT_THROW((void)split({SMGroup{.count = 8, .backfill = true}}), NotSupportedError);
  EXPECT_THROW((void)split({SMGroup{.count = 66}, SMGroup{.count = 66}}), std::invalid_argument);
  table.cuDevSmResourceSplit = newer;
}

TEST_F(GreenContexts, MissingFunctionsAreNamed) {
  auto& table = fake.table();
  const auto function = std::exchange(table.cuDeviceGetDevResource, nullptr);
  EXPECT_NE(message_of<NotSupportedError>([] {
              (void)DeviceResources(Device(0)).sm();
            }).find("cuDeviceGetDevResource"),
            std::string::npos);
  table.cuDeviceGetDevResource = function;
}

TEST_F(GreenContexts, LimitsAreReadAndSet) {
  const Context context = Device(0).context();
  context.set_limit(ContextLimit::stack_size, 4096);
  EXPECT_EQ(context.limit(ContextLimit::stack_size), 4096U);
  EXPECT_THROW(context.set_limit(ContextLimit::max_l2_fetch_granularity, 129),
               std::invalid_argument);
  fake.fail_function("cuCtxSetLimit", CUDA_ERROR_UNSUPPORTED_LIMIT);
  EXPECT_NE(message_of<NotSupportedError>([&] {
              context.set_limit(ContextLimit::dev_runtime_sync_depth, 1);
            }).find("dev_runtime_sync_depth"),
            std::string::npos);
}

TEST_F(GreenContexts, WindowsAreChecked) {
  const StreamAttributes attributes{Stream(Device(0).context(), {})};
  const auto refused = [&](const AccessPolicyWindow& window) {
    return message_of<std::invalid_argument>([&] { attributes.set_access_policy_window(window); });
  };
  EXPECT_NE(refused({.hit_ratio = 1.5}).find("hit_ratio"), std::string::npos);
  EXPECT_NE(refused({.miss_prop = AccessProperty::persisting}).find("miss_prop"),
            std::string::npos);
  EXPECT_NE(refused({.num_bytes = std::size_t{1} << 40U}).find("too large"), std::string::npos);
  EXPECT_EQ(fake.count("cuStreamSetAttribute"), 0);
  attributes.set_access_policy_window({});
  EXPECT_EQ(fake.count("cuStreamSetAttribute"), 1);
  const StreamAttributes plain{Stream(Device(1).context(), {})};
  EXPECT_THROW(plain.set_access_policy_window({.base_ptr = 4096, .num_bytes = 16}),
               NotSupportedError);
  EXPECT_THROW(attributes.copy_from(plain.stream()), std::invalid_argument);
  EXPECT_THROW(attributes.set_priority(1), std::invalid_argument);
}

TEST_F(GreenContexts, LaunchesTakeAttributesThatWereMadeBefore) {
  FakeKernel fake_kernel;
  const Kernel kernel = Kernel::from_handle(reinterpret_cast<CUkernel>(&fake_kernel));
  const Stream stream(Device(0).context(), {});
  const Event event(Device(0).context(), EventOptions{});
  LaunchConfig config;
  config.attributes = prepare({.programmatic_event = event,
                               .trigger_at_block_start = true,
                               .mem_sync_domain = MemSyncDomain::remote,
                               .shared_memory_carveout = 50});
  launch(stream, config, kernel);
  const auto& given = fake.last_launch.attributes;
  ASSERT_EQ(given.size(), 3U);
  for (const CUlaunchAttribute& attribute : given) {
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
      EXPECT_EQ(attribute.value.programmaticEvent.event, event.handle());
      EXPECT_EQ(attribute.value.programmaticEvent.triggerAtBlockStart, 1);
    }
  }
  EXPECT_EQ(prepare({}), nullptr);
}

TEST_F(GreenContexts, WrongAttributesAreRefused) {
  const Event timing(Device(0).context(), {.timing_enabled = true});
  EXPECT_THROW((void)prepare({.programmatic_event = timing}), std::invalid_argument);
  EXPECT_THROW((void)prepare({.launch_completion_event = timing}), std::invalid_argument);
  EXPECT_THROW((void)prepare({.trigger_at_block_start = true}), std::invalid_argument);
  EXPECT_THROW((void)prepare({.shared_memory_carveout = 101}), std::invalid_argument);
  EXPECT_THROW((void)prepare({.preferred_cluster = {{2, 0, 1}}}), std::invalid_argument);
  FakeKernel fake_kernel;
  const Kernel kernel = Kernel::from_handle(reinterpret_cast<CUkernel>(&fake_kernel));
  const Stream stream(Device(0).context(), {});
  LaunchConfig config;
  config.attributes = prepare({.preferred_cluster = {{4, 1, 1}}});
  EXPECT_THROW(launch(stream, config, kernel), std::invalid_argument);
  config.cluster = Dim3{3, 1, 1};
  EXPECT_THROW(launch(stream, config, kernel), std::invalid_argument);
  config.cluster = Dim3{2, 1, 1};
  EXPECT_THROW(launch(stream, config, kernel), std::invalid_argument);
  config.grid = {2, 1, 1};
  launch(stream, config, kernel);
}

}  // namespace
}  // namespace cudacore

// SPDX-License-Identifier: Apache-2.0
//
// Random programs on a caching pool, with a detector of races.
#include <gtest/gtest.h>

#include <algorithm>

#include "cudacore/caching_memory_resource.hpp"
#include "cudacore/device_memory_resource.hpp"
#include "cudacore/error.hpp"
#include "log_reports.hpp"
#include "owner/owned_handles.hpp"
#include "runtime/size_class.hpp"
#include "stream_order_model.hpp"

namespace cudacore {
namespace {

using testing::FakeDriver;
using testing::StreamOrderModel;

CUstream handle_of(const Stream& stream) { return stream.box()->stream; }

struct Live {
  Buffer buffer;
  Stream stream;  ///< that uses it
};

/// Owned streams, which come and go, and one that others own.
class Program {
 public:
  Program(FakeDriver& fake, unsigned seed)
      : model_(fake, seed), random_(seed), foreign_(device_.create_stream()) {
    for (int i = 0; i < 4; ++i) streams_.push_back(device_.create_stream());
    const auto upstream =
        std::make_shared<DeviceMemoryResource>(device_, DeviceMemoryResourceOptions{});
    const bool is_limited = seed % 2 == 0;
    pool_ = std::make_shared<CachingMemoryResource>(upstream, is_limited ? 12 * mebibyte : 0);
  }

  void run(int steps) {
    for (int i = 0; i < steps && model_.error().empty(); ++i) step();
  }
  void end() {
    live_.clear();
    EXPECT_EQ(pool_->statistics().current_count, 0U);
    EXPECT_EQ(pool_->statistics().used_bytes, 0U);
    pool_->trim();
    EXPECT_EQ(pool_->statistics().reserved_bytes, 0U);
  }
  [[nodiscard]] const std::string& error() const { return model_.error(); }

  /// What must always hold of the blocks.
  void check() const {
    std::uint64_t total = 0;
    std::uint64_t used = 0;
    std::size_t buffers = 0;
    for (const CachedSegment& segment : pool_->snapshot()) {
      CUdeviceptr next = segment.address;
      for (const CachedBlock& block : segment.blocks) {
        ASSERT_EQ(block.address, next);
        ASSERT_EQ((block.address - segment.address) % 512, 0U);
        next += block.size;
        used += block.is_used ? block.size : 0;
        buffers += block.is_used ? 1 : 0;
      }
      ASSERT_EQ(next, segment.address + segment.total_size);
      total += segment.total_size;
    }
    const CachingStatistics known = pool_->statistics();
    ASSERT_EQ(known.reserved_bytes, total);
    ASSERT_EQ(known.used_bytes, used);
    ASSERT_EQ(buffers, live_.size());
    ASSERT_EQ(known.current_count, live_.size());
  }

 private:
  unsigned any(std::size_t below) { return static_cast<unsigned>(random_() % below); }
  Stream any_stream() {
    const unsigned chosen = any(streams_.size() + 2);
    if (chosen < streams_.size()) return streams_[chosen];
    return chosen == streams_.size() ? Stream::from_handle(handle_of(foreign_))
                                     : device_.default_stream();
  }

  void step() {
    const unsigned choice = any(100);
    if (choice < 45) {
      allocate();
    } else if (choice < 85 && !live_.empty()) {
      free_one();
    } else if (choice < 94 && !live_.empty()) {
      Live& used = live_[any(live_.size())];
      model_.use(handle_of(used.stream), used.buffer.handle(), used.buffer.size());
    } else if (choice < 98) {
      replace_stream();
    } else if (choice < 99) {
      pool_->trim(any(4) * page);
    }
  }

  void allocate() {
    const std::size_t most[] = {4 * kibibyte, mebibyte, 4 * mebibyte, 16 * mebibyte};
    const std::size_t size = 1 + any(most[any(4)]);
    const Stream stream = any_stream();
    try {
      Buffer buffer = pool_->allocate(size, stream);
      model_.hand_out(handle_of(stream), buffer.handle(), size);
      live_.push_back({buffer, stream});
    } catch (const OutOfMemoryError&) {
    }
  }

  void free_one() {
    const unsigned place = any(live_.size());
    Live ended = std::move(live_[place]);
    live_.erase(live_.begin() + place);
    if (any(3) != 0) return;  // freed on the stream of the allocation
    const Stream other = any_stream();
    other.wait(ended.stream);
    model_.use(handle_of(other), ended.buffer.handle(), ended.buffer.size());
    ended.buffer.close(other);
  }

  void replace_stream() {
    Stream& old = streams_[any(streams_.size())];
    // Work is queued through it no more, but memory may be.
    std::erase_if(live_, [&](const Live& live) { return live.stream == old; });
    old = device_.create_stream();
  }

  StreamOrderModel model_;
  std::mt19937 random_;
  Device device_{0};
  Stream foreign_;
  std::vector<Stream> streams_;
  std::shared_ptr<CachingMemoryResource> pool_;
  std::vector<Live> live_;
};

class CachingPoolOrder : public testing::ReportsTest,
                         public ::testing::WithParamInterface<unsigned> {};

TEST_P(CachingPoolOrder, NoMemoryIsReusedTooEarly) {
  FakeDriver& fake = FakeDriver::fresh();
  fake.captured = nullptr;
  {
    Program program(fake, GetParam());
    for (int i = 0; i < 40; ++i) {
      program.run(50);
      ASSERT_EQ(program.error(), "");
      program.check();
      if (HasFatalFailure()) return;
    }
    program.end();
    EXPECT_EQ(program.error(), "");
  }
  EXPECT_TRUE(testing::reports().empty());
  EXPECT_EQ(fake.live(), 0);
  EXPECT_EQ(fake.misuses(), 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CachingPoolOrder, ::testing::Range(1U, 41U));

}  // namespace
}  // namespace cudacore

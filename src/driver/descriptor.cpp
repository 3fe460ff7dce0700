// SPDX-License-Identifier: Apache-2.0
#include "driver/descriptor.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

#include <unistd.h>

namespace cudacore::driver {
namespace {

/// Keeps SIGXFSZ, which would end the process, from the calling thread.
class WithoutFileSizeSignal {
 public:
  WithoutFileSizeSignal() noexcept {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~WithoutFileSizeSignal() {
    const timespec at_once{};
    // The one that a write of this thread has caused.
    if (!was_pending_) sigtimedwait(&signal_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutFileSizeSignal(const WithoutFileSizeSignal&) = delete;
  WithoutFileSizeSignal& operator=(const WithoutFileSizeSignal&) = delete;

 private:
  sigset_t signal_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

template <typename Content>
bool read_into(Content& content, int file, std::size_t expected, std::size_t limit) {
  if (expected > limit) return false;
  content.resize(expected + 1);  // one more, to see the end with the first read
  std::size_t size = 0;
  while (true) {
    const ::ssize_t got = ::read(file, content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (size > limit) return false;
    if (size == content.size()) content.resize(2 * size);
  }
  content.resize(size);
  return true;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

bool read_all(int file, std::size_t expected, std::size_t limit, std::string& content) {
  return read_into(content, file, expected, limit);
}

bool read_all(int file, std::size_t expected, std::size_t limit, std::vector<std::byte>& content) {
  return read_into(content, file, expected, limit);
}

std::string draft_name() {
  static std::atomic<std::uint64_t> count{0};
  std::uint64_t random = 0;
  // If this fails, the name is less unlikely to exist, and is then not used.
  static_cast<void>(::getentropy(&random, sizeof(random)));
  std::string name(draft_prefix);
  for (const std::uint64_t part :
       {random, static_cast<std::uint64_t>(::getpid()), count.fetch_add(1)}) {
    name += "-" + std::to_string(part);
  }
  return name;
}

int write_all(int file, std::span<const std::byte> bytes) noexcept {
  const WithoutFileSizeSignal guard;
  while (!bytes.empty()) {
    const ::ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace cudacore::driver

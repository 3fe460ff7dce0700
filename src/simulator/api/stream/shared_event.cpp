// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/stream/shared_event.hpp"

#include <bit>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <new>
#include <string>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "simulator/api/stream/event.hpp"
#include "simulator/api/stream/stream.hpp"

namespace cudacore::simulator {
namespace {

/// What a note's kind says of a file.
constexpr std::int32_t event_kind = 3;
constexpr std::uint64_t event_magic = 0x3174'6e65'7645'6363;  // "ccEvent1"
constexpr std::size_t page_size = 4096;
constexpr auto poll_interval = std::chrono::microseconds(50);

/// Whether a process has not ended. One that nobody has waited for yet has.
bool is_running(std::int32_t process) noexcept {
  if (process == getpid()) return true;
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (descriptor < 0) return errno != ESRCH && errno != EINVAL;
  pollfd ended{descriptor, POLLIN, 0};
  const bool has_ended = poll(&ended, 1, 0) == 1;
  close(descriptor);
  return !has_ended;
}

/// The regular file that a process has open; null for everything else, which is not even opened.
std::shared_ptr<const MemoryFile> open_file_of(std::int32_t process, std::int32_t number) {
  if (process <= 0 || number < 0) return nullptr;
  const auto path = [](const std::string& of, int descriptor) {
    return "/proc/" + of + "/fd/" + std::to_string(descriptor);
  };
  const int found = open(path(std::to_string(process), number).c_str(), O_PATH | O_CLOEXEC);
  if (found < 0) return nullptr;
  struct stat status {};
  const bool is_file = fstat(found, &status) == 0 && S_ISREG(status.st_mode);
  const int file = is_file ? open(path("self", found).c_str(), O_RDWR | O_CLOEXEC) : -1;
  close(found);
  if (file < 0) return nullptr;
  auto opened = MemoryFile::open(file);
  close(file);
  return opened;
}

std::shared_ptr<const HostPages> map_page(const MemoryFile& file) {
  auto page = HostPages::allocate(page_size);
  return page != nullptr && file.map(page->bytes(), page_size) ? page : nullptr;
}

class SharedMark final : public Work {
 public:
  SharedMark(std::shared_ptr<SharedEvent> event, std::uint64_t number) noexcept
      : event_(std::move(event)), number_(number) {}
  Progress run(const Turn&) noexcept override {
    event_->end_record(number_);
    return Progress::done;
  }
  Progress drop(const Turn&, CUresult) noexcept override {
    event_->end_record(number_);
    return Progress::done;
  }

 private:
  std::shared_ptr<SharedEvent> event_;
  std::uint64_t number_;
};

class SharedWait final : public Work {
 public:
  SharedWait(std::shared_ptr<const SharedEvent> event, std::uint64_t number) noexcept
      : event_(std::move(event)), number_(number) {}

  /// Polled by a worker, because another process ends the wait.
  std::size_t cost() const noexcept override {
    return event_->has_reached(number_) ? 0 : ~std::size_t{0} >> 1U;
  }
  Progress run(const Turn&) noexcept override {
    if (event_->has_reached(number_)) return Progress::done;
    std::this_thread::sleep_for(poll_interval);
    return Progress::again;
  }

 private:
  std::shared_ptr<const SharedEvent> event_;
  std::uint64_t number_;
};

}  // namespace

std::shared_ptr<SharedEvent> SharedEvent::create(const Device& device) {
  MemoryFileNote about;
  about.kind = event_kind;
  about.device = device.physical;
  about.flags = getpid();
  auto file = MemoryFile::create(page_size, about);
  if (file == nullptr) return nullptr;
  auto page = map_page(*file);
  if (page == nullptr) return nullptr;
  new (page->bytes()) State;
  const EventNote note{event_magic, file->note().id, getpid(), file->descriptor()};
  return std::make_shared<SharedEvent>(std::move(file), std::move(page), note);
}

std::shared_ptr<SharedEvent> SharedEvent::open(const EventNote& note) {
  const EventNote none;
  if (note.magic != event_magic || note.unused != none.unused) return nullptr;
  auto file = open_file_of(note.process, note.descriptor);
  if (file == nullptr || file->note().kind != event_kind || file->note().id != note.id ||
      file->note().flags != note.process || file->size() != page_size) {
    return nullptr;
  }
  auto page = map_page(*file);
  if (page == nullptr) return nullptr;
  return std::make_shared<SharedEvent>(std::move(file), std::move(page), note);
}

SharedEvent::SharedEvent(std::shared_ptr<const MemoryFile> file,
                         std::shared_ptr<const HostPages> page, EventNote note) noexcept
    : file_(std::move(file)),
      page_(std::move(page)),
      state_(std::launder(reinterpret_cast<State*>(page_->bytes()))),
      note_(note) {}

std::uint64_t SharedEvent::begin_record() noexcept {
  state_->recorder.store(getpid(), std::memory_order_relaxed);
  return state_->begun.fetch_add(1, std::memory_order_acq_rel) + 1;
}

void SharedEvent::end_record(std::uint64_t number) noexcept {
  std::uint64_t reached = state_->reached.load(std::memory_order_relaxed);
  while (reached < number &&
         !state_->reached.compare_exchange_weak(reached, number, std::memory_order_release,
                                                std::memory_order_relaxed)) {
  }
}

std::uint64_t SharedEvent::newest() const noexcept {
  return state_->begun.load(std::memory_order_acquire);
}

bool SharedEvent::has_reached(std::uint64_t number) const noexcept {
  return state_->reached.load(std::memory_order_acquire) >= number ||
         !is_running(state_->recorder.load(std::memory_order_relaxed));
}

void SharedEvent::wait(std::uint64_t number) const noexcept {
  while (!has_reached(number)) std::this_thread::sleep_for(poll_interval);
}

std::unique_ptr<Work> make_shared_mark(std::shared_ptr<SharedEvent> event, std::uint64_t number) {
  return std::make_unique<SharedMark>(std::move(event), number);
}

std::unique_ptr<Work> make_shared_wait(std::shared_ptr<const SharedEvent> event,
                                       std::uint64_t number) {
  return std::make_unique<SharedWait>(std::move(event), number);
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  return driver_call([&] {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::shared_ptr<Event> found = registry().events.find(event);
    if (found == nullptr) {
      return refuse(CUDA_ERROR_INVALID_HANDLE, "the handle is not one of a live event");
    }
    if (found->shared == nullptr) {
      return refuse(CUDA_ERROR_INVALID_HANDLE,
                    "the event was created without CU_EVENT_INTERPROCESS");
    }
    *handle = std::bit_cast<CUipcEventHandle>(found->shared->note());
    return found->context->status();
  });
}

CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  return context_call([&](Context& context) {
    if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<SharedEvent> shared = SharedEvent::open(std::bit_cast<EventNote>(handle));
    if (shared == nullptr) {
      return refuse(CUDA_ERROR_INVALID_HANDLE,
                    "the handle is not one of an event of a process that runs");
    }
    if (shared->physical_device() != context.device.physical) {
      return refuse(CUDA_ERROR_INVALID_HANDLE, "the event is one of another device");
    }
    *event = add_event(context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, std::move(shared));
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/system/logs.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <unistd.h>

#include "simulator/api/cuda_api.hpp"

namespace cudacore::simulator {

namespace {

constexpr std::size_t most_entries = 100;
/// The maximum size that cuLogsDumpToMemory returns, according to the driver's documentation.
constexpr std::size_t largest_dump = 25600;
constexpr std::string_view truncated_mark = "Log truncated: older entries were left out\n";

struct Callback {
  std::uintptr_t id = 0;
  CUlogsCallback function = nullptr;
  void* data = nullptr;
};

struct Log {
  std::mutex mutex;
  std::deque<std::string> entries;
  CUlogIterator next = 0;  ///< number of the next entry
  std::vector<Callback> callbacks;
  std::uintptr_t next_callback = 1;

  [[nodiscard]] CUlogIterator oldest() const {
    return next - static_cast<CUlogIterator>(entries.size());
  }
  /// Entries from a number on, and whether some before them are lost.
  [[nodiscard]] std::pair<std::vector<std::string>, bool> from(
      const CUlogIterator* iterator) const {
    const bool is_lost = iterator != nullptr ? *iterator < oldest() : oldest() > 0;
    const CUlogIterator begin =
        iterator != nullptr ? std::clamp(*iterator, oldest(), next) : oldest();
    return {{entries.begin() + static_cast<std::ptrdiff_t>(begin - oldest()), entries.end()},
            is_lost};
  }
};

/// Leaked on purpose: kernels may fail while the process ends.
Log& shared_log() noexcept {
  static Log& instance = *std::make_unique<Log>().release();
  return instance;
}

/// "[12:34:56.789][pid][CUDA][E] text"
std::string format_entry(char level, std::string_view message) {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 64> prefix{};
  std::snprintf(prefix.data(), prefix.size(), "[%02d:%02d:%02d.%03d][%d][CUDA][%c] ", local.tm_hour,
                local.tm_min, local.tm_sec, static_cast<int>(milliseconds),
                static_cast<int>(getpid()), level);
  std::string text = prefix.data() + std::string(message);
  // One line per entry: readers split the log at line ends.
  std::ranges::replace(text, '\n', ' ');
  return text;
}

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

void append_to_file(const char* path, std::string_view text) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path, "a"));
  if (file != nullptr) std::fwrite(text.data(), 1, text.size(), file.get());
}

void write_where_asked(const std::string& entry) {
  const char* where = std::getenv("CUDA_LOG_FILE");
  if (where == nullptr || *where == '\0') return;
  const std::string line = entry + "\n";
  if (std::strcmp(where, "stdout") == 0) {
    std::fputs(line.c_str(), stdout);
    std::fflush(stdout);
  } else if (std::strcmp(where, "stderr") == 0) {
    std::fputs(line.c_str(), stderr);
  } else {
    append_to_file(where, line);
  }
}

void file_entry(CUlogLevel level, std::string_view message) noexcept {
  try {
    std::string entry = format_entry(level == CU_LOG_LEVEL_ERROR ? 'E' : 'W', message);
    std::vector<Callback> callbacks;
    {
      Log& log = shared_log();
      const std::scoped_lock lock(log.mutex);
      log.entries.push_back(entry);
      ++log.next;
      if (log.entries.size() > most_entries) log.entries.pop_front();
      callbacks = log.callbacks;
      write_where_asked(entry);
    }
    for (const Callback& callback : callbacks) {
      callback.function(callback.data, level, entry.data(), entry.size());
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): the host has no memory left to say it
  }
}

/// The newest entries, as text that fits; empty if none does.
std::string newest_that_fit(const std::vector<std::string>& entries, bool is_lost,
                            std::size_t space) {
  std::size_t length = 0;
  for (const std::string& entry : entries) length += entry.size() + 1;
  std::string text;
  auto first = entries.begin();
  if (is_lost || length > space) {
    if (truncated_mark.size() >= space) return {};
    text = truncated_mark;
    while (first != entries.end() && text.size() + length > space) length -= first++->size() + 1;
  }
  for (; first != entries.end(); ++first) text += *first + "\n";
  return text;
}

}  // namespace

void log_error(std::string_view message) noexcept { file_entry(CU_LOG_LEVEL_ERROR, message); }
void log_warning(std::string_view message) noexcept { file_entry(CU_LOG_LEVEL_WARNING, message); }

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuLogsRegisterCallback(CUlogsCallback function, void* data, CUlogsCallbackHandle* handle) {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  try {
    Log& log = shared_log();
    const std::scoped_lock lock(log.mutex);
    log.callbacks.push_back({log.next_callback, function, data});
    if (handle != nullptr) *handle = reinterpret_cast<CUlogsCallbackHandle>(log.next_callback);
    ++log.next_callback;
    return CUDA_SUCCESS;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  Log& log = shared_log();
  const std::scoped_lock lock(log.mutex);
  const auto erased = std::erase_if(log.callbacks, [handle](const Callback& callback) {
    return callback.id == reinterpret_cast<std::uintptr_t>(handle);
  });
  return erased != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLogsCurrent(CUlogIterator* iterator, unsigned flags) {
  if (iterator == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Log& log = shared_log();
  const std::scoped_lock lock(log.mutex);
  *iterator = log.next;
  return CUDA_SUCCESS;
}

CUresult cuLogsDumpToFile(CUlogIterator* iterator, const char* path, unsigned flags) {
  if (path == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  try {
    Log& log = shared_log();
    const std::scoped_lock lock(log.mutex);
    const auto [entries, is_lost] = log.from(iterator);
    std::string text(is_lost ? truncated_mark : std::string_view{});
    for (const std::string& entry : entries) text += entry + "\n";
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path, "w"));
    if (file == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) {
      return CUDA_ERROR_OPERATING_SYSTEM;
    }
    if (iterator != nullptr) *iterator = log.next;
    return CUDA_SUCCESS;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}

CUresult cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, std::size_t* size,
                            unsigned flags) {
  if (buffer == nullptr || size == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (*size == 0) return CUDA_ERROR_INVALID_VALUE;
  try {
    Log& log = shared_log();
    const std::scoped_lock lock(log.mutex);
    const auto [entries, is_lost] = log.from(iterator);
    const std::string text = newest_that_fit(entries, is_lost, std::min(*size, largest_dump) - 1);
    std::memcpy(buffer, text.c_str(), text.size() + 1);
    *size = text.size();
    if (text.empty() && !entries.empty()) return CUDA_ERROR_INVALID_VALUE;
    if (iterator != nullptr) *iterator = log.next;
    return CUDA_SUCCESS;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}

/// For the simulated runtime, whose errors belong in this log.
[[gnu::visibility("default")]] void cudacoreSimulatorLogError(const char* message) {
  log_error(message);
}

}  // extern "C"

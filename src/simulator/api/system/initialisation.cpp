// SPDX-License-Identifier: Apache-2.0
//
// cuInit, and the state of the process: before it, after it, or forked from it.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

#include <pthread.h>

#include "simulator/api/entry.hpp"
#include "simulator/api/stream/host_thread.hpp"
#include "simulator/api/system/configuration.hpp"
#include "simulator/engine/workers.hpp"

namespace cudacore::simulator {

namespace {

std::atomic<bool> initialised{false};
std::atomic<bool> forked{false};

void enter_child() noexcept {
  if (initialised.load(std::memory_order_relaxed)) forked.store(true, std::memory_order_relaxed);
}

CUresult refuse_hidden(const char* visible, unsigned devices) {
  const std::string there_are =
      devices == 1 ? "there is device 0" : "there are devices 0 to " + std::to_string(devices - 1);
  return refuse(CUDA_ERROR_NO_DEVICE, "CUDA_VISIBLE_DEVICES is \"" + std::string(visible) +
                                          "\", which names no simulated device; " + there_are +
                                          ": unset it, or name one that there is");
}

CUresult initialise() {
  const auto configuration = read_configuration();
  if (!configuration) return CUDA_ERROR_INVALID_VALUE;
  std::vector<int> visible;
  const char* text = std::getenv("CUDA_VISIBLE_DEVICES");
  if (text != nullptr) {
    visible = parse_visible_devices(text, configuration->devices);
  } else {
    for (int i = 0; i < static_cast<int>(configuration->devices); ++i) visible.push_back(i);
  }
  if (visible.empty()) return refuse_hidden(text, configuration->devices);
  const DeviceProperties properties = properties_of(configuration->major, configuration->minor);
  std::vector<std::unique_ptr<Device>> devices;
  devices.reserve(visible.size());
  for (const int physical : visible) {
    devices.push_back(std::make_unique<Device>(static_cast<int>(devices.size()), physical,
                                               properties, configuration->memory_bytes));
  }
  Workers::set_count(configuration->threads);
  registry().devices = std::move(devices);
  static const int watched = pthread_atfork(nullptr, nullptr, enter_child);
  if (watched != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  initialised.store(true, std::memory_order_release);
  return CUDA_SUCCESS;
}

}  // namespace

Registry& registry() noexcept {
  static Registry& instance = *std::make_unique<Registry>().release();
  return instance;
}

CUresult driver_status() noexcept {
  const bool usable =
      initialised.load(std::memory_order_acquire) && !forked.load(std::memory_order_relaxed);
  if (!usable) return CUDA_ERROR_NOT_INITIALIZED;
  return is_callback_thread() ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

Device* find_device(CUdevice ordinal) noexcept {
  const auto& devices = registry().devices;
  const auto index = static_cast<std::size_t>(ordinal);
  return ordinal >= 0 && index < devices.size() ? devices[index].get() : nullptr;
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuInit(unsigned flags) {
  static std::mutex mutex;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (forked.load(std::memory_order_relaxed)) return CUDA_ERROR_NOT_INITIALIZED;
  if (driver_status() == CUDA_SUCCESS) return CUDA_SUCCESS;
  const std::scoped_lock lock(mutex);
  if (driver_status() == CUDA_SUCCESS) return CUDA_SUCCESS;
  try {
    return initialise();
  } catch (...) {
    return result_of_exception();
  }
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = driver_version;
  return CUDA_SUCCESS;
}

}  // extern "C"

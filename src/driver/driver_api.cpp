// SPDX-License-Identifier: Apache-2.0
#include "driver/driver_api.hpp"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "cudacore/error.hpp"
#include "driver/check_blocking.hpp"
#include "driver/driver_log.hpp"
#include "driver/process.hpp"
#include "driver/shared_library.hpp"

namespace cudacore::driver {
namespace {

constexpr int oldest_version = 12000;

enum class Need : std::uint8_t { optional, required, newest };

/// The table that api() returns: the real one, once loaded, or one that a test installed.
constinit std::atomic<const DriverApi*> active{nullptr};
constinit std::atomic<const DriverApi*> loaded{nullptr};

using GetProcAddress = decltype(&::cuGetProcAddress);
using GetVersion = decltype(&::cuDriverGetVersion);

[[noreturn]] void throw_too_old(const SharedLibrary& library, int version) {
  throw NotSupportedError("the NVIDIA driver (" + library.path.string() + ") speaks CUDA " +
                              version_text(version) + ", but cudacore needs CUDA " +
                              version_text(oldest_version) +
                              " or later: install driver 525 or later",
                          0, {}, "cuDriverGetVersion");
}

[[noreturn]] void throw_stub(const SharedLibrary& library) {
  throw DriverNotFoundError(
      library.path.string() +
          " is the toolkit's stub, not a driver: take its folder out of LD_LIBRARY_PATH, and "
          "install the NVIDIA driver or, in a container, run with --gpus all." +
          std::string(simulator_advice),
      {library.path.string()});
}

[[noreturn]] void throw_no_device(const SharedLibrary& library, const DriverApi& table) {
  if (table.simulated) {  // its log names the available devices
    throw DriverNotFoundError(
        "cuInit found no device (CUDA_ERROR_NO_DEVICE): " + take_driver_log(table),
        {library.path.string()});
  }
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::string message = "cuInit found no device (CUDA_ERROR_NO_DEVICE): the driver " +
                        library.path.string() + " (CUDA " + version_text(table.version) +
                        ") is there, but no GPU is visible to this process. ";
  if (visible != nullptr && *visible == '\0') {
    message += "CUDA_VISIBLE_DEVICES is empty, which hides every GPU: unset it.";
  } else if (visible != nullptr) {
    message += "CUDA_VISIBLE_DEVICES is \"" + std::string(visible) +
               "\": unset it, or name a device that `nvidia-smi -L` lists.";
  } else {
    message += "See whether `nvidia-smi -L` lists one; in a container, run with --gpus all.";
  }
  throw DriverNotFoundError(message + std::string(simulator_advice), {library.path.string()});
}

/// Fills the table's pointers.
void resolve(DriverApi& table, const SharedLibrary& library, GetProcAddress get_proc_address) {
  const auto find = [&](std::string_view key, int since, Need need) -> void* {
    void* address = nullptr;
    CUdriverProcAddressQueryResult status{};
    CUresult result =
        get_proc_address(key.data(), &address, since, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status);
    if (need == Need::newest && (result != CUDA_SUCCESS || address == nullptr)) {
      result = get_proc_address(key.data(), &address, oldest_version,
                                CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status);
    }
    if (result == CUDA_ERROR_STUB_LIBRARY) throw_stub(library);
    if (result == CUDA_SUCCESS && address != nullptr) return address;
    if (need != Need::optional) {
      throw NotSupportedError("the NVIDIA driver (" + library.path.string() +
                                  "), which speaks CUDA " + version_text(table.version) +
                                  ", has no " + std::string(key) + " of CUDA " +
                                  version_text(since) + ", which cudacore needs",
                              static_cast<int>(result), {}, std::string(key));
    }
    return nullptr;
  };
  // cuda.h renames some functions by macro, but not in #name.
#define CUDACORE_DRIVER_SYMBOL(name, since, need, wait)                                \
  table.name = reinterpret_cast<decltype(table.name)>(find(#name, since, Need::need)); \
  check_blocking<&DriverApi::name>(table, #name, Wait::wait);
#include "driver/symbols.def"
#undef CUDACORE_DRIVER_SYMBOL
}

/// What to do if cuInit() failed. The simulated device's log says which environment variable is
/// wrong.
std::string initialization_advice(const DriverApi& table) {
  if (!table.simulated) return "See whether `nvidia-smi` works";
  return take_driver_log(table);
}

void initialize(const DriverApi& table, const SharedLibrary& library) {
  const CUresult result = table.cuInit(0);
  if (result == CUDA_SUCCESS) return;
  if (result == CUDA_ERROR_STUB_LIBRARY) throw_stub(library);
  if (result == CUDA_ERROR_NO_DEVICE) throw_no_device(library, table);
  const char* name = nullptr;
  const char* text = nullptr;
  table.cuGetErrorName(result, &name);
  table.cuGetErrorString(result, &text);
  const std::string known_name = name != nullptr ? name : "";
  throw Error("cuInit failed with the driver " + library.path.string() + " (CUDA " +
                  version_text(table.version) + "): " + known_name + " (" +
                  std::to_string(static_cast<int>(result)) +
                  "): " + (text != nullptr ? text : "an unknown error") + ". " +
                  initialization_advice(table),
              static_cast<int>(result), known_name, "cuInit");
}

/// What use_simulator() requested, and whether an earlier attempt to load failed; guarded by
/// `mutex`.
struct Choice {
  std::mutex mutex;
  std::optional<SimulatorConfiguration> simulator;
  std::exception_ptr failure;
};

Choice& choice() {
  static Choice storage;
  return storage;
}

/// Whether the environment requests the simulated device.
/// @throw DriverNotFoundError if it requests something else.
bool environment_asks_for_simulator() {
  const char* value = std::getenv("CUDACORE_DRIVER");
  const std::string_view asked = value != nullptr ? value : "";
  if (asked == "simulator") return true;
  if (asked.empty() || asked == "native") return false;
  throw DriverNotFoundError("CUDACORE_DRIVER is \"" + std::string(asked) +
                                "\"; it may be \"simulator\", for the simulated device, or "
                                "\"native\", for NVIDIA's driver, which unset means too",
                            {});
}

/// Configures the simulated device. Returns whether the driver is one.
bool configure(const SharedLibrary& library,
               const std::optional<SimulatorConfiguration>& configuration) {
  using Configure = CUresult (*)(unsigned, int, int, std::size_t);
  const auto function = reinterpret_cast<Configure>(library.symbol("cudacoreSimulatorConfigure"));
  if (function == nullptr) return false;
  if (!configuration) return true;
  const CUresult result = function(configuration->devices, configuration->major,
                                   configuration->minor, configuration->memory);
  if (result == CUDA_ERROR_INVALID_VALUE) {
    throw std::invalid_argument(
        "no simulated device is like that: there may be 1 to 64 devices, of a compute capability "
        "that there is, from 7.5 to 12.1, with 1 MiB to 1 TiB of memory each");
  }
  if (result != CUDA_SUCCESS) {
    throw Error("the simulated device (" + library.path.string() +
                    ") is in use in this process already, with other settings: enable it with "
                    "these before the first use of a device, or give none to take it as it is",
                static_cast<int>(result), {}, "cudacoreSimulatorConfigure");
  }
  return true;
}

std::unique_ptr<DriverApi> load(const std::optional<SimulatorConfiguration>& configuration) {
  const bool simulate = configuration || environment_asks_for_simulator();
  const SharedLibrary library = simulate ? open_simulator() : open_driver();
  const bool simulated = configure(library, configuration);
  const auto get_version = reinterpret_cast<GetVersion>(library.symbol("cuDriverGetVersion"));
  const auto get_proc_address =
      reinterpret_cast<GetProcAddress>(library.symbol("cuGetProcAddress_v2"));
  if (get_version == nullptr) {
    throw DriverNotFoundError(library.path.string() +
                                  " is not a CUDA driver: it has no "
                                  "cuDriverGetVersion",
                              {library.path.string()});
  }
  auto table = std::make_unique<DriverApi>();
  table->path = library.path;
  table->simulated = simulated;
  if (get_version(&table->version) == CUDA_ERROR_STUB_LIBRARY) throw_stub(library);
  if (get_proc_address == nullptr || table->version < oldest_version) {
    throw_too_old(library, table->version);
  }
  resolve(*table, library, get_proc_address);
  initialize(*table, library);
  return table;
}

[[noreturn]] void throw_forked() {
  throw ForkedProcessError(
      "this process was forked after CUDA was initialised, and the driver does not work in the "
      "child. Start workers with the \"spawn\" method "
      "(multiprocessing.set_start_method(\"spawn\")), "
      "or fork before the first use of CUDA",
      static_cast<int>(CUDA_ERROR_NOT_INITIALIZED), "CUDA_ERROR_NOT_INITIALIZED", {});
}

const DriverApi& load_once() {
  throw_if_forked();
  const BlockingScope blocking;
  auto& [mutex, simulator, failure] = choice();
  const std::scoped_lock lock(mutex);
  if (const DriverApi* table = active.load(std::memory_order_acquire)) return *table;
  if (failure != nullptr) std::rethrow_exception(failure);
  try {
    std::unique_ptr<DriverApi> table = load(simulator);
    watch_process();
    loaded.store(table.get(), std::memory_order_release);
    active.store(table.get(), std::memory_order_release);
    return *table.release();  // lives as long as the driver, which is never closed
  } catch (...) {
    failure = std::current_exception();
    throw;
  }
}

}  // namespace

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void throw_if_forked() {
  if (is_forked_child()) throw_forked();
}

const DriverApi& api() {
  const DriverApi* table = active.load(std::memory_order_acquire);
  if (table != nullptr && !is_forked_child()) [[likely]]
    return *table;
  return load_once();
}

void use_simulator(const SimulatorConfiguration& configuration) {
  {
    auto& [mutex, simulator, failure] = choice();
    const std::scoped_lock lock(mutex);
    if (const DriverApi* table = active.load(std::memory_order_acquire)) {
      if (table->simulated) {
        (void)configure(open_simulator(), configuration);
        return;
      }
      throw Error("the driver " + table->path.string() +
                      " is in use in this process already: the simulated device must be enabled, "
                      "once, before the first use of a device",
                  0, {}, {});
    }
    simulator = configuration;
    failure = nullptr;
  }
  try {
    (void)api();
  } catch (...) {
    auto& [mutex, simulator, failure] = choice();
    const std::scoped_lock lock(mutex);
    simulator.reset();
    failure = nullptr;
    throw;
  }
}

bool simulator_chosen() {
  auto& [mutex, simulator, failure] = choice();
  const std::scoped_lock lock(mutex);
  if (const DriverApi* table = active.load(std::memory_order_acquire)) return table->simulated;
  return simulator || environment_asks_for_simulator();
}

const DriverApi* api_for_cleanup() noexcept {
  if (is_forked_child() || is_exiting()) return nullptr;
  return active.load(std::memory_order_acquire);
}

void install_for_testing(const DriverApi* table) noexcept {
  active.store(table != nullptr ? table : loaded.load(std::memory_order_acquire),
               std::memory_order_release);
}

void throw_missing_symbol(const char* function, int since) {
  const DriverApi& table = api();
  throw NotSupportedError(std::string(function) + " needs a driver of CUDA " + version_text(since) +
                              " or later; this one (" + table.path.string() + ") speaks CUDA " +
                              version_text(table.version) + ": update the NVIDIA driver",
                          0, {}, function);
}

}  // namespace cudacore::driver

// SPDX-License-Identifier: Apache-2.0
#include "compile/nvrtc_compilation.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "compile/flag_effects.hpp"
#include "compile/flags.hpp"
#include "cudacore/error.hpp"
#include "driver/pip_command.hpp"
#include "error/wait.hpp"
#include "signature/bytes.hpp"

namespace cudacore::compile {
namespace {

/// Answers the compiler, which asks at its own pace, and from its own threads, whether to continue.
class Interruption {
 public:
  static int ask(void* self, void* /*reserved*/) noexcept {
    return static_cast<Interruption*>(self)->is_wanted() ? 1 : 0;
  }
  [[nodiscard]] bool happened() const noexcept { return happened_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;

  /// Only the compiling thread calls the hook, every 20 ms, because the hook may run signal
  /// handlers.
  bool is_wanted() noexcept {
    constexpr std::chrono::milliseconds interval{20};
    if (happened() || std::this_thread::get_id() != thread_) return happened();
    if (const Clock::time_point now = Clock::now(); now >= next_) {
      const error::InterruptHook hook = error::interrupt_hook();
      if (hook != nullptr && hook()) happened_.store(true, std::memory_order_relaxed);
      next_ = Clock::now() + interval;
    }
    return happened();
  }

  std::thread::id thread_ = std::this_thread::get_id();
  Clock::time_point next_ = Clock::now();
  std::atomic<bool> happened_{false};
};

}  // namespace

std::string nvrtc_version(const driver::NvrtcApi& api) {
  return "NVRTC " + std::to_string(api.major) + "." + std::to_string(api.minor);
}

void check_nvrtc(const driver::NvrtcApi& api, int result, const char* function,
                 const std::string& object) {
  if (result == nvrtc_success) return;
  const std::string name = api.nvrtcGetErrorString(result);
  const std::string message = std::string(function) + " failed on " + object + ": " + name + " (" +
                              nvrtc_version(api) + ")";
  if (result == nvrtc_out_of_memory) throw OutOfMemoryError(message, result, name, function);
  throw Error(message, result, name, function);
}

NvrtcCompilation::NvrtcCompilation(const std::string& source, std::string name,
                                   const std::map<std::string, std::string>& headers)
    : api_(driver::nvrtc()), name_(std::move(name)) {
  std::vector<const char*> texts;
  std::vector<const char*> names;
  for (const auto& [header, text] : headers) {
    names.push_back(header.c_str());
    texts.push_back(text.c_str());
  }
  check_nvrtc(api_,
              api_.nvrtcCreateProgram(&program_, source.c_str(), name_.c_str(),
                                      static_cast<int>(headers.size()), texts.data(), names.data()),
              "nvrtcCreateProgram", "\"" + name_ + "\"");
}

NvrtcCompilation::~NvrtcCompilation() {
  // Fails only for a handle that is not NVRTC's.
  if (program_ != nullptr) api_.nvrtcDestroyProgram(&program_);
}

std::shared_ptr<void> NvrtcCompilation::keep() {
  const auto destroy = [&api = api_](driver::NvrtcProgram program) {
    api.nvrtcDestroyProgram(&program);
  };
  return driver::keep_until_exit(std::exchange(program_, nullptr), destroy);
}

void NvrtcCompilation::add_name_expression(const std::string& expression) {
  check_nvrtc(api_, api_.nvrtcAddNameExpression(program_, expression.c_str()),
              "nvrtcAddNameExpression", "\"" + expression + "\"");
}

int NvrtcCompilation::compile(std::span<const std::string> flags) {
  std::vector<const char*> options = c_strings(flags);
  if (const char* flag = no_cache_flag(flags, api_.major, api_.minor)) options.push_back(flag);
  Interruption interruption;
  if (api_.nvrtcSetFlowCallback != nullptr && error::interrupt_hook() != nullptr) {
    check_nvrtc(api_, api_.nvrtcSetFlowCallback(program_, &Interruption::ask, &interruption),
                "nvrtcSetFlowCallback", name_);
  }
  const int result =
      api_.nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data());
  if (interruption.happened()) throw InterruptedError("the compilation was interrupted");
  return result;
}

std::string NvrtcCompilation::output(const std::string& function,
                                     int (*size_of)(driver::NvrtcProgram, std::size_t*),
                                     int (*get)(driver::NvrtcProgram, char*)) const {
  std::size_t size = 0;
  check_nvrtc(api_, size_of(program_, &size), (function + "Size").c_str(), name_);
  std::string bytes(size, '\0');
  check_nvrtc(api_, get(program_, bytes.data()), function.c_str(), name_);
  return bytes;
}

std::string NvrtcCompilation::log() const {
  return signature::without_nul(
      output("nvrtcGetProgramLog", api_.nvrtcGetProgramLogSize, api_.nvrtcGetProgramLog));
}

std::string NvrtcCompilation::ptx() const {
  return signature::without_nul(output("nvrtcGetPTX", api_.nvrtcGetPTXSize, api_.nvrtcGetPTX));
}

std::vector<std::byte> NvrtcCompilation::cubin() const {
  return signature::bytes_of(output("nvrtcGetCUBIN", api_.nvrtcGetCUBINSize, api_.nvrtcGetCUBIN));
}

std::vector<std::byte> NvrtcCompilation::ltoir() const {
  return signature::bytes_of(output("nvrtcGetLTOIR", api_.nvrtcGetLTOIRSize, api_.nvrtcGetLTOIR));
}

std::string NvrtcCompilation::lowered_name(const std::string& expression) const {
  const char* symbol = nullptr;
  check_nvrtc(api_, api_.nvrtcGetLoweredName(program_, expression.c_str(), &symbol),
              "nvrtcGetLoweredName", "\"" + expression + "\"");
  return symbol;
}

int NvrtcCompilation::pch_create_status() const {
  if (api_.nvrtcGetPCHCreateStatus == nullptr) {
    throw NotSupportedError(
        nvrtc_version(api_) + " (" + api_.path.string() +
            ") has no precompiled headers, which came with 12.8; leave the "
            "options pch and create_pch out, or upgrade it: " +
            driver::pip_command("nvidia-cuda-nvrtc", api_.major, driver::Pip::upgrade),
        0, {}, "nvrtcGetPCHCreateStatus");
  }
  return api_.nvrtcGetPCHCreateStatus(program_);
}

void NvrtcCompilation::grow_pch_heap() const {
  std::size_t size = 0;
  check_nvrtc(api_, api_.nvrtcGetPCHHeapSizeRequired(program_, &size),
              "nvrtcGetPCHHeapSizeRequired", name_);
  check_nvrtc(api_, api_.nvrtcSetPCHHeapSize(size), "nvrtcSetPCHHeapSize", std::to_string(size));
}

}  // namespace cudacore::compile

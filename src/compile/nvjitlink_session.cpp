// SPDX-License-Identifier: Apache-2.0
#include "compile/nvjitlink_session.hpp"

#include <array>
#include <stdexcept>

#include "compile/flag_effects.hpp"
#include "compile/flags.hpp"
#include "cudacore/error.hpp"
#include "driver/pip_command.hpp"
#include "error/describe.hpp"
#include "signature/bytes.hpp"
#include "signature/compiler_log.hpp"
#include "signature/elf_file.hpp"

namespace cudacore::compile {
namespace {

/// The names of nvJitLinkResult's values, which the library doesn't provide.
constexpr std::array<const char*, 19> result_names = {
    "NVJITLINK_SUCCESS",
    "NVJITLINK_ERROR_UNRECOGNIZED_OPTION",
    "NVJITLINK_ERROR_MISSING_ARCH",
    "NVJITLINK_ERROR_INVALID_INPUT",
    "NVJITLINK_ERROR_PTX_COMPILE",
    "NVJITLINK_ERROR_NVVM_COMPILE",
    "NVJITLINK_ERROR_INTERNAL",
    "NVJITLINK_ERROR_THREADPOOL",
    "NVJITLINK_ERROR_UNRECOGNIZED_INPUT",
    "NVJITLINK_ERROR_FINALIZE",
    "NVJITLINK_ERROR_NULL_INPUT",
    "NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS",
    "NVJITLINK_ERROR_INCORRECT_INPUT_TYPE",
    "NVJITLINK_ERROR_ARCH_MISMATCH",
    "NVJITLINK_ERROR_OUTDATED_LIBRARY",
    "NVJITLINK_ERROR_MISSING_FATBIN",
    "NVJITLINK_ERROR_UNRECOGNIZED_ARCH",
    "NVJITLINK_ERROR_UNSUPPORTED_ARCH",
    "NVJITLINK_ERROR_LTO_NOT_ENABLED",
};
constexpr int unrecognized_option = 1;
constexpr int outdated_library = 14;

std::string result_name(int result) {
  if (result < 0 || static_cast<std::size_t>(result) >= result_names.size()) {
    return "nvJitLinkResult " + std::to_string(result);
  }
  return result_names[static_cast<std::size_t>(result)];
}

std::string upgrade_command(const driver::NvJitLinkApi& api) {
  return driver::pip_command("nvidia-nvjitlink", api.major, driver::Pip::upgrade);
}

std::string version_text(const driver::NvJitLinkApi& api) {
  return "nvJitLink " + std::to_string(api.major) + "." + std::to_string(api.minor);
}

/// The newest architecture of nvJitLink 12, which may crash if it doesn't know the architecture;
/// later versions report an error.
int newest_architecture(const driver::NvJitLinkApi& api) {
  if (api.major > 12) return 999;
  if (api.minor >= 9) return 121;
  return api.minor == 8 ? 120 : 90;
}

/// In the order of CodeType.
constexpr std::array input_types = {driver::nvjitlink_ptx,    driver::nvjitlink_cubin,
                                    driver::nvjitlink_ltoir,  driver::nvjitlink_fatbin,
                                    driver::nvjitlink_object, driver::nvjitlink_library};

/// A cubin, as far as it can be read; nvJitLink reports what is wrong with it.
std::optional<signature::ElfFile> read_cubin(const ObjectCode& input) {
  if (input.code_type() != CodeType::cubin) return std::nullopt;
  try {
    return signature::ElfFile(input.code());
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

}  // namespace

NvJitLinkSession::NvJitLinkSession(std::string name, const Architecture& architecture,
                                   std::span<const std::string> flags)
    : api_(driver::nvjitlink()), name_(std::move(name)), architecture_(architecture) {
  if (architecture.number > newest_architecture(api_)) {
    throw NotSupportedError(version_text(api_) + " (" + api_.path.string() + ") does not know " +
                                architecture.sm() + "; upgrade it: " + upgrade_command(api_),
                            0, {}, "nvJitLinkCreate");
  }
  std::vector<const char*> options = c_strings(flags);
  if (const char* flag = no_cache_flag(flags, api_.major, api_.minor)) options.push_back(flag);
  const int result =
      api_.nvJitLinkCreate(&handle_, static_cast<unsigned>(options.size()), options.data());
  if (result == 0) return;
  const std::string log = error_log();
  // A failed creation may leave a handle from which the log can be read; the destructor will not
  // run.
  if (handle_ != nullptr) api_.nvJitLinkDestroy(&handle_);
  throw_error(result, "nvJitLinkCreate", architecture.sm(), log);
}

NvJitLinkSession::~NvJitLinkSession() {
  // Fails only for a handle that is not nvJitLink's.
  if (handle_ != nullptr) api_.nvJitLinkDestroy(&handle_);
}

std::shared_ptr<void> NvJitLinkSession::keep() {
  const auto destroy = [&api = api_](driver::NvJitLinkHandle handle) {
    api.nvJitLinkDestroy(&handle);
  };
  return driver::keep_until_exit(std::exchange(handle_, nullptr), destroy);
}

void NvJitLinkSession::add(const ObjectCode& input) {
  std::vector<std::byte> text;  // PTX must end with a NUL
  if (input.code_type() == CodeType::ptx) {
    text.reserve(input.code().size() + 1);
    text = input.code();
    text.push_back(std::byte{0});
  }
  const std::vector<std::byte>& code = text.empty() ? input.code() : text;
  const std::string object = error::with_name(to_string(input.code_type()), input.name());
  constexpr const char* function = "nvJitLinkAddData";
  const std::optional<signature::ElfFile> cubin = read_cubin(input);
  if (cubin && !cubin->is_relocatable()) {
    const std::string message = "cannot link " + object + ", machine code for sm_" +
                                std::to_string(cubin->architecture()) +
                                ": it is not relocatable; compile it for " + architecture_.sm() +
                                " with relocatable_device_code=True";
    throw LinkError(message, 0, {}, function, message);
  }
  const driver::NvJitLinkInput type = input_types.at(static_cast<std::size_t>(input.code_type()));
  const int result =
      api_.nvJitLinkAddData(handle_, type, code.data(), code.size(), input.name().c_str());
  if (result == 0) return;
  std::string advice;
  if (cubin && cubin->architecture() != architecture_.number) {
    advice = "\nIt is machine code for sm_" + std::to_string(cubin->architecture()) +
             ", and the link is for " + architecture_.sm() + ": compile it for that";
  }
  throw_error(result, function, object, error_log(), advice);
}

void NvJitLinkSession::complete() {
  check(api_.nvJitLinkComplete(handle_), "nvJitLinkComplete", "\"" + name_ + "\"");
}

std::string NvJitLinkSession::output(const std::string& function, SizeFunction size_of,
                                     GetFunction get) const {
  std::size_t size = 0;
  check(size_of(handle_, &size), (function + "Size").c_str(), name_);
  std::string bytes(size, '\0');
  check(get(handle_, bytes.data()), function.c_str(), name_);
  return bytes;
}

std::vector<std::byte> NvJitLinkSession::cubin() const {
  return signature::bytes_of(output("nvJitLinkGetLinkedCubin", api_.nvJitLinkGetLinkedCubinSize,
                                    api_.nvJitLinkGetLinkedCubin));
}

std::string NvJitLinkSession::ptx() const {
  return signature::without_nul(
      output("nvJitLinkGetLinkedPtx", api_.nvJitLinkGetLinkedPtxSize, api_.nvJitLinkGetLinkedPtx));
}

std::string NvJitLinkSession::read_log(SizeFunction size_of, GetFunction get) const {
  std::size_t size = 0;
  if (handle_ == nullptr || size_of(handle_, &size) != 0 || size == 0) return {};
  // One more byte: some versions count the final NUL and some don't, but all write it.
  std::string text(size + 1, '\0');
  return get(handle_, text.data()) == 0 ? signature::without_nul(std::move(text)) : std::string();
}

std::string NvJitLinkSession::error_log() const {
  return read_log(api_.nvJitLinkGetErrorLogSize, api_.nvJitLinkGetErrorLog);
}

std::string NvJitLinkSession::info_log() const {
  return read_log(api_.nvJitLinkGetInfoLogSize, api_.nvJitLinkGetInfoLog);
}

void NvJitLinkSession::check(int result, const char* function, std::string_view object) const {
  if (result != 0) throw_error(result, function, object, error_log());
}

void NvJitLinkSession::throw_error(int result, const char* function, std::string_view object,
                                   const std::string& log, const std::string& advice) const {
  const std::string code = result_name(result);
  std::string message = std::string(function) + " failed on " + std::string(object) + ": " + code +
                        " (" + version_text(api_) + ")";
  if (result == unrecognized_option) {
    throw NotSupportedError(
        message + "\n" + log + "This nvJitLink (" + api_.path.string() +
            ") has no such flag; leave the option out, or upgrade it: " + upgrade_command(api_),
        result, code, function);
  }
  const signature::FirstError error = signature::first_error(log);
  if (!log.empty())
    message += "\n" + signature::demangle_all(error.text.empty() ? log : error.text);
  message += error.count_of_more();
  if (log.find("Undefined reference") != std::string::npos) {
    message += "\nAdd the object code that defines it, compiled with relocatable_device_code=True";
  }
  if (result == outdated_library) {
    message += "\nAn input was made by a newer compiler than this nvJitLink (" +
               api_.path.string() + "): " + upgrade_command(api_);
  }
  throw LinkError(message + advice, result, code, function, log);
}

}  // namespace cudacore::compile

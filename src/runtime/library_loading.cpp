// SPDX-License-Identifier: Apache-2.0
#include "runtime/library_loading.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "driver/driver_log.hpp"
#include "driver/leaked.hpp"
#include "error/check.hpp"
#include "error/context_box.hpp"
#include "owner/end_scope.hpp"
#include "runtime/known_shares.hpp"
#include "signature/bytes.hpp"
#include "signature/compiler_log.hpp"
#include "signature/elf_file.hpp"
#include "signature/fatbin_file.hpp"

namespace cudacore {
namespace {

/// Where the driver's JIT compiler writes. Lives as long as the library: the driver may compile and
/// write long after cuLibraryLoadData has returned.
struct JitLog {
  std::array<char, 8192> text{};
  std::array<CUjit_option, 2> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{text.data(), std::bit_cast<void*>(std::uintptr_t{text.size()})};

  [[nodiscard]] std::string_view view() const noexcept {
    return {text.data(), strnlen(text.data(), text.size())};
  }
};

/// The version number after `key` in PTX; empty if the key is not there.
std::string_view version_after(std::string_view key, std::string_view ptx) {
  const std::size_t start = ptx.find(key);
  if (start == std::string_view::npos) return {};
  const std::string_view rest = ptx.substr(start + key.size());
  return rest.substr(0, rest.find_first_not_of("0123456789."));
}

/// "9.0, made by CUDA 13.0": the PTX ISA version that a module requires, and the compiler that
/// NVRTC and nvcc name in a comment, if there is one.
std::string ptx_version(std::string_view ptx) {
  const std::string_view isa = version_after(".version ", ptx);
  const std::string_view maker = version_after("Cuda compilation tools, release ", ptx);
  std::string text(isa.empty() ? "?" : isa);
  return maker.empty() ? text : text.append(", made by CUDA ").append(maker);
}

/// Rejects a truncated cubin; the driver would read past its end.
/// @throw std::invalid_argument
void check_cubin(std::span<const std::byte> code) {
  (void)kernels_in_cubin(code);  // reads the sections
  signature::ElfFile(code).check_segments();
}

/// The compute capability that a cubin is for, times ten; 0 if it cannot be read.
int cubin_architecture(const std::vector<std::byte>& code) {
  try {
    return signature::ElfFile(code).architecture();
  } catch (const std::invalid_argument&) {
    return 0;
  }
}

/// The same for a fat binary and the cubins in it.
/// @throw std::invalid_argument
void check_fatbin(std::span<const std::byte> code) {
  for (const signature::FatbinPart& part : signature::parts_of_fatbin(code)) {
    if (part.kind == signature::FatbinPart::Kind::cubin && !part.is_compressed) {
      check_cubin(part.code);
    }
  }
}

/// Rejects code that the driver cannot load, or that would crash it.
void check_loadable(const std::vector<std::byte>& code, CodeType type, const std::string& name) {
  switch (type) {
    case CodeType::ptx:
      return;
    case CodeType::cubin:
      read_code(type, name, [&] { check_cubin(code); });
      return;
    case CodeType::fatbin:
      read_code(type, name, [&] { check_fatbin(code); });
      return;
    case CodeType::ltoir:
    case CodeType::object:
    case CodeType::library:
      throw std::invalid_argument(error::with_name(to_string(type), name) +
                                  " cannot be loaded as it is: link it to a cubin first, with "
                                  "Linker");
  }
}

[[noreturn]] void throw_load_error(CUresult result, const driver::DriverApi& api,
                                   const char* function, const std::vector<std::byte>& code,
                                   CodeType type, const std::string& name, std::string_view log,
                                   error::ContextBox& context) {
  const int number = static_cast<int>(result);
  const std::string object = error::with_name(to_string(type), name);
  const std::string result_name = error::code_name(api, result);
  const std::string start =
      std::string(function) + " failed on " + object + ": " + error::format_code(api, result);
  if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION && type == CodeType::ptx) {
    throw NotSupportedError(
        start + ". The PTX is of ISA version " + ptx_version(signature::text_of(code)) +
            ", newer than the driver (CUDA " + driver::version_text(api.version) +
            ") can compile. Compile to a cubin, which needs no JIT (target \"cubin\"), use an "
            "NVRTC "
            "no newer than the driver (for a CUDA 12 driver: pip install nvidia-cuda-nvrtc-cu12), "
            "or "
            "update the NVIDIA driver",
        number, result_name, function);
  }
  const std::string device = error::describe_device(context.device);
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU) {
    const int architecture = type == CodeType::cubin ? cubin_architecture(code) : 0;
    const std::string logged = driver::take_driver_log(api);
    throw NotSupportedError(
        start + ". It holds no code that " + device + ", sm_" + Device(context.device).arch() +
            ", can run" +
            (architecture != 0 ? ": it was compiled for sm_" + std::to_string(architecture) : "") +
            (logged.empty() ? "" : ". The driver says: " + logged) +
            ". Compile it for this device, or to PTX",
        number, result_name, function);
  }
  if (type == CodeType::ptx && !log.empty()) {
    const signature::FirstError error = signature::first_error(log);
    std::string message = "PTX JIT: " + start + " for " + device + "\n" +
                          signature::demangle_all(error.text.empty() ? log : error.text);
    if (log.find("Unresolved extern") != std::string_view::npos) {
      message += "\nLink it, with Linker, to the object code that defines it";
    }
    throw CompileError(message, number, result_name, function, std::string(log));
  }
  error::throw_driver_error(
      result, function, log.empty() ? object : object + " (" + std::string(log) + ")", &context);
}

KnownShares<owner::LibraryBox, CUlibrary>& known_libraries() {
  static auto& known = driver::leaked<KnownShares<owner::LibraryBox, CUlibrary>>();
  return known;
}

}  // namespace

std::shared_ptr<owner::LibraryBox> load_library(const std::vector<std::byte>& code, CodeType type,
                                                const std::string& name, const std::string& ptx) {
  check_loadable(code, type, name);
  const driver::DriverApi& api = driver::api();
  if (api.simulated && type == CodeType::cubin) {
    if (!ptx.empty()) return load_library(signature::bytes_of(ptx), CodeType::ptx, name, {});
    throw NotSupportedError(error::with_name("cubin", name) +
                                " cannot run on the simulated device, which runs PTX, and it does "
                                "not carry the PTX that it was made from. Compile it with "
                                "Program, or load its PTX with ObjectCode.from_ptx",
                            0, {}, "cuLibraryLoadData");
  }
  error::ContextBox& context = *error::current_context();
  error::throw_if_lost(context);

  auto box = std::make_shared<owner::LibraryBox>();
  box->code.reserve(code.size() + 1);
  box->code = code;
  box->code.push_back(std::byte{0});  // PTX must end with a NUL
  const bool compiles = type != CodeType::cubin;
  const auto log = compiles ? std::make_shared<JitLog>() : nullptr;
  box->owner = log;
  std::array<CUlibraryOption, 1> options{CU_LIBRARY_BINARY_IS_PRESERVED};
  std::array<void*, 1> values{std::bit_cast<void*>(std::uintptr_t{1})};

  const auto check = [&](CUresult result, const char* function) {
    if (result == CUDA_SUCCESS) return;
    throw_load_error(result, api, function, code, type, name, log ? log->view() : "", context);
  };
  const owner::OutsideCaptures outside(api);  // another library's, which loading would end
  check(api.cuLibraryLoadData(&box->library, box->code.data(), log ? log->options.data() : nullptr,
                              log ? log->values.data() : nullptr,
                              log ? static_cast<unsigned>(log->options.size()) : 0, options.data(),
                              values.data(), static_cast<unsigned>(options.size())),
        "cuLibraryLoadData");
  box->owned = true;
  CUmodule module = nullptr;
  check(api.cuLibraryGetModule(&module, box->library), "cuLibraryGetModule");
  known_libraries().add(box->library, box);
  return box;
}

std::shared_ptr<owner::LibraryBox> loaded_library(CUlibrary library) {
  return known_libraries().find(library);
}

std::optional<std::size_t> parameter_count(const KernelEntry& entry) {
  // A name that is not mangled demangles to itself.
  if (demangle(entry.symbol) == entry.symbol) return std::nullopt;
  return entry.signature.params.size();
}

std::optional<Signature> measured_parameters(const driver::DriverApi& api, CUkernel kernel,
                                             const std::string& name,
                                             std::optional<std::size_t> count) {
  if (api.cuKernelGetParamInfo == nullptr) return std::nullopt;
  error::ContextBox& context = *error::current_context();
  error::throw_if_lost(context);
  if (std::size_t told = 0; api.cuKernelGetParamCount != nullptr) {
    error::check(api.cuKernelGetParamCount(kernel, &told), "cuKernelGetParamCount",
                 "kernel " + name, &context);
    count = told;
  }
  Signature signature;
  for (std::size_t i = 0;; ++i) {
    if (i == count) return signature;
    Param param;
    const CUresult result = api.cuKernelGetParamInfo(kernel, i, &param.offset, &param.size);
    if (result == CUDA_ERROR_INVALID_VALUE) return signature;  // past the last one
    error::check(result, "cuKernelGetParamInfo",
                 "kernel " + name + ", parameter " + std::to_string(i), &context);
    signature.params.push_back(std::move(param));
  }
}

std::vector<std::string> kernel_symbols(const driver::DriverApi& api,
                                        const owner::LibraryBox& library, const std::string& name) {
  if (api.cuLibraryEnumerateKernels == nullptr || api.cuLibraryGetKernelCount == nullptr ||
      api.cuKernelGetName == nullptr) {
    driver::throw_missing_symbol("cuLibraryEnumerateKernels", 12040);
  }
  const std::string object = error::with_name("library", name);
  unsigned count = 0;
  error::check(api.cuLibraryGetKernelCount(&count, library.library), "cuLibraryGetKernelCount",
               object);
  std::vector<CUkernel> kernels(count);
  error::check(api.cuLibraryEnumerateKernels(kernels.data(), count, library.library),
               "cuLibraryEnumerateKernels", object);
  std::vector<std::string> symbols;
  symbols.reserve(count);
  for (CUkernel kernel : kernels) {
    const char* symbol = nullptr;
    error::check(api.cuKernelGetName(&symbol, kernel), "cuKernelGetName", object);
    symbols.emplace_back(symbol);
  }
  return symbols;
}

}  // namespace cudacore

// SPDX-License-Identifier: Apache-2.0
#include "cudacore/fatbin.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "compile/flags.hpp"
#include "compile/merged_details.hpp"
#include "driver/compiler_call.hpp"
#include "driver/nvfatbin_api.hpp"
#include "driver/pip_command.hpp"
#include "error/describe.hpp"
#include "signature/bytes.hpp"
#include "signature/elf_file.hpp"
#include "signature/ptx_tokens.hpp"

namespace cudacore {
namespace {

/// Compressed only if the user asks for it, because then only the driver can read it.
std::string compression_flag(const std::string& mode) {
  constexpr std::array<std::string_view, 5> modes = {"none", "default", "size", "speed", "balance"};
  if (std::find(modes.begin(), modes.end(), mode) == modes.end()) {
    throw std::invalid_argument(
        "compress_mode must be \"none\", \"default\", \"size\", \"speed\" "
        "or \"balance\", not \"" +
        mode + "\"");
  }
  return mode == "none" ? "-compress=false" : "-compress-mode=" + mode;
}

std::string describe(const ObjectCode& input) {
  return error::with_name(to_string(input.code_type()), input.name());
}

/// "90a": what a module of PTX is for; empty if it doesn't say.
std::string target_of(std::string_view ptx) {
  constexpr std::string_view prefix = "sm_";
  signature::PtxTokens tokens(ptx);
  std::string_view token = tokens.next();
  while (!token.empty() && token != ".target") token = tokens.next();
  // A list, in which the architecture comes first as a rule: sm_90a, debug.
  for (token = tokens.next(); token == "," || (!token.empty() && token.front() != '.');
       token = tokens.next()) {
    if (token.starts_with(prefix)) return std::string(token.substr(prefix.size()));
  }
  return {};
}

/// "90a": what an input is for. A cubin doesn't contain the letter; the PTX that it was made from
/// does.
std::string architecture_of(const ObjectCode& input) {
  std::string target = target_of(input.ptx());
  if (input.code_type() == CodeType::cubin) {
    const std::string number = std::to_string(signature::ElfFile(input.code()).architecture());
    return target.starts_with(number) ? target : number;
  }
  if (!target.empty()) return target;
  throw std::invalid_argument(describe(input) +
                              " has no .target sm_XX, which tells what it is for");
}

/// One nvFatbinHandle.
class FatbinSession : driver::NotCopied {
 public:
  explicit FatbinSession(const FatbinOptions& options) : api_(driver::nvfatbin()) {
    const std::array flags = {compression_flag(options.compress_mode)};
    std::vector<const char*> strings = compile::c_strings(flags);
    check(api_.nvFatbinCreate(&handle_, strings.data(), strings.size()), "nvFatbinCreate",
          options.name);
  }
  // Fails only for a handle that is not nvFatbin's.
  ~FatbinSession() {
    if (handle_ != nullptr) api_.nvFatbinDestroy(&handle_);
  }

  void add(const ObjectCode& input, const std::string& architecture) {
    const char* name = input.name().c_str();
    if (input.code_type() == CodeType::cubin) {
      check(api_.nvFatbinAddCubin(handle_, input.code().data(), input.code().size(),
                                  architecture.c_str(), name),
            "nvFatbinAddCubin", describe(input));
      return;
    }
    const std::string text(input.ptx());  // PTX must end with a NUL
    check(
        api_.nvFatbinAddPTX(handle_, text.c_str(), text.size() + 1, architecture.c_str(), name, ""),
        "nvFatbinAddPTX", describe(input));
  }

  [[nodiscard]] std::vector<std::byte> fatbin() const {
    std::size_t size = 0;
    check(api_.nvFatbinSize(handle_, &size), "nvFatbinSize", "the fat binary");
    std::vector<std::byte> bytes(size);
    check(api_.nvFatbinGet(handle_, bytes.data()), "nvFatbinGet", "the fat binary");
    return bytes;
  }

 private:
  void check(int result, const char* function, const std::string& object) const {
    if (result == 0) return;
    const char* text = api_.nvFatbinGetErrorString(result);
    const std::string name = text != nullptr ? text : "nvFatbinResult " + std::to_string(result);
    throw Error(std::string(function) + " failed on " + object + ": " + name + " (nvFatbin " +
                    std::to_string(api_.major) + "." + std::to_string(api_.minor) + ", " +
                    api_.path.string() + "). If it is older than the compiler, upgrade it: " +
                    driver::pip_command("nvidia-nvfatbin", api_.major, driver::Pip::upgrade),
                result, name, function);
  }

  driver::CompilerCall call_;
  const driver::NvFatbinApi& api_;
  driver::NvFatbinHandle handle_ = nullptr;
};

}  // namespace

ObjectCode make_fatbin(std::span<const ObjectCode> inputs, const FatbinOptions& options) {
  if (inputs.empty()) throw std::invalid_argument("make_fatbin needs at least one object code");
  static_cast<void>(compression_flag(options.compress_mode));
  std::vector<std::string> architectures;
  std::set<std::pair<CodeType, std::string>> seen;
  for (const ObjectCode& input : inputs) {
    if (input.code_type() != CodeType::cubin && input.code_type() != CodeType::ptx) {
      throw std::invalid_argument("a fat binary is made of cubins and PTX, not of " +
                                  describe(input));
    }
    static_cast<void>(input.kernels());  // nvFatbin would accept damaged code
    architectures.push_back(architecture_of(input));
    if (!seen.emplace(input.code_type(), architectures.back()).second) {
      throw std::invalid_argument("two inputs are " + std::string(to_string(input.code_type())) +
                                  " for sm_" + architectures.back() +
                                  "; a device could only get one of them");
    }
  }
  FatbinSession session(options);
  for (std::size_t i = 0; i < inputs.size(); ++i) session.add(inputs[i], architectures[i]);
  return {session.fatbin(), CodeType::fatbin, compile::merged_details(inputs, options.name)};
}

}  // namespace cudacore

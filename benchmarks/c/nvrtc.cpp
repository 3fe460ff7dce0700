// SPDX-License-Identifier: Apache-2.0
#include "nvrtc.hpp"

#include <array>
#include <stdexcept>

#include <dlfcn.h>

#include "driver.hpp"

namespace bench {

namespace {

std::shared_ptr<void> open_nvrtc(const std::string& path) {
  std::vector<std::string> names{path};
  if (path.empty()) {
    names = {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so",
             "/usr/local/cuda/lib/libnvrtc.so"};
  }
  std::string tried;
  for (const std::string& name : names) {
    try {
      return open_library(name);
    } catch (const std::runtime_error& error) {
      tried += std::string(tried.empty() ? "" : "; ") + error.what();
    }
  }
  throw std::runtime_error(tried + ". Give --nvrtc=PATH");
}

}  // namespace

Nvrtc::Nvrtc(const std::string& path) : library_(open_nvrtc(path)) {
  const auto load = [this](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        symbol_address(library_.get(), name));
  };
  load(version_, "nvrtcVersion");
  load(error_string_, "nvrtcGetErrorString");
  load(create_, "nvrtcCreateProgram");
  load(destroy_, "nvrtcDestroyProgram");
  load(compile_, "nvrtcCompileProgram");
  load(cubin_size_, "nvrtcGetCUBINSize");
  load(cubin_, "nvrtcGetCUBIN");
  load(log_size_, "nvrtcGetProgramLogSize");
  load(log_, "nvrtcGetProgramLog");
}

std::vector<char> Nvrtc::cubin(const std::string& source, int arch) const {
  const auto check = [this](int result, const char* call) {
    if (result != 0) {
      throw std::runtime_error(std::string(call) + ": " + error_string_(result));
    }
  };
  Program program = nullptr;
  check(create_(&program, source.c_str(), "bench.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
  const auto destroy = [this](Program* owned) { destroy_(owned); };
  const std::unique_ptr<Program, decltype(destroy)> owner(&program, destroy);

  const std::string flag = "-arch=sm_" + std::to_string(arch);
  const std::array<const char*, 1> flags{flag.c_str()};
  const int result = compile_(program, static_cast<int>(flags.size()), flags.data());
  if (result != 0) {
    std::size_t size = 0;
    check(log_size_(program, &size), "nvrtcGetProgramLogSize");
    std::string log(size, '\0');
    check(log_(program, log.data()), "nvrtcGetProgramLog");
    log.resize(log.find_last_not_of('\0') + 1);
    throw std::runtime_error(std::string("nvrtcCompileProgram: ") + error_string_(result) + ": " +
                             log);
  }
  std::size_t size = 0;
  check(cubin_size_(program, &size), "nvrtcGetCUBINSize");
  std::vector<char> image(size);
  check(cubin_(program, image.data()), "nvrtcGetCUBIN");
  return image;
}

std::string Nvrtc::description() const {
  int major = 0;
  int minor = 0;
  version_(&major, &minor);
  std::string text = std::to_string(major) + "." + std::to_string(minor);
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(version_), &info) != 0 && info.dli_fname != nullptr) {
    text += std::string(" ") + info.dli_fname;
  }
  return text;
}

}  // namespace bench

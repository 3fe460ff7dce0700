// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cudacore {

/// The base of every failure that a CUDA library reported, or that prevented a library from being
/// called.
///
/// what() is one message: the call, the library's name and text for the code, the object, and, if
/// known, what to do next. Wrong arguments that are found before any call throw
/// std::invalid_argument (ValueError in Python), TypeMismatchError (TypeError) or
/// std::overflow_error (OverflowError).
class Error : public std::runtime_error {
 public:
  Error(const std::string& message, int code, std::string name, std::string function)
      : std::runtime_error(message),
        code_(code),
        name_(std::move(name)),
        function_(std::move(function)) {}

  /// The library's result code; 0 if no library was called.
  [[nodiscard]] int code() const noexcept { return code_; }
  /// The code's name, such as "CUDA_ERROR_INVALID_VALUE"; empty if no library was called.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The function that failed, such as "cuMemAllocAsync"; empty if none was called.
  [[nodiscard]] const std::string& function() const noexcept { return function_; }

 private:
  int code_;
  std::string name_;
  std::string function_;
};

/// CUDA_ERROR_OUT_OF_MEMORY.
class OutOfMemoryError : public Error {
 public:
  using Error::Error;
};

/// The driver rejected a value or a handle: codes 1, 101, 400 and similar.
class InvalidValueError : public Error {
 public:
  using Error::Error;
};

/// The device, the driver or the library doesn't support the request.
class NotSupportedError : public Error {
 public:
  using Error::Error;
  /// What cudacore found before any call.
  explicit NotSupportedError(const std::string& message) : Error(message, 0, {}, {}) {}
};

/// A kernel failed while it ran (an illegal address, an assert, a trap) or could not be started.
class LaunchError : public Error {
 public:
  using Error::Error;
};

/// An earlier failure destroyed the context. Every later call on it throws this without calling the
/// driver.
class ContextLostError : public Error {
 public:
  using Error::Error;
};

/// The process was forked after CUDA was initialized; the child cannot use CUDA.
class ForkedProcessError : public Error {
 public:
  using Error::Error;
};

/// A shared library was not found; what() lists every place tried and the command that fixes it.
class LibraryNotFoundError : public Error {
 public:
  LibraryNotFoundError(const std::string& message, std::vector<std::string> tried)
      : Error(message, 0, {}, {}), tried_(std::move(tried)) {}
  /// Every place that was searched, in order.
  [[nodiscard]] const std::vector<std::string>& tried() const noexcept { return tried_; }

 private:
  std::vector<std::string> tried_;
};

/// libcuda was not found, or found no device.
class DriverNotFoundError : public LibraryNotFoundError {
 public:
  using LibraryNotFoundError::LibraryNotFoundError;
};

/// NVRTC rejected the source. what() shows the first error and the source line it refers to.
class CompileError : public Error {
 public:
  CompileError(const std::string& message, int code, std::string name, std::string function,
               std::string log)
      : Error(message, code, std::move(name), std::move(function)), log_(std::move(log)) {}
  /// The compiler's complete log.
  [[nodiscard]] const std::string& log() const noexcept { return log_; }

 private:
  std::string log_;
};

/// nvJitLink rejected its inputs.
class LinkError : public Error {
 public:
  LinkError(const std::string& message, int code, std::string name, std::string function,
            std::string log)
      : Error(message, code, std::move(name), std::move(function)), log_(std::move(log)) {}
  /// The linker's complete log.
  [[nodiscard]] const std::string& log() const noexcept { return log_; }

 private:
  std::string log_;
};

/// An argument has the wrong type for a kernel's parameter.
class TypeMismatchError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A wait was canceled because the interrupt hook requested it (Ctrl-C in Python).
class InterruptedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace cudacore

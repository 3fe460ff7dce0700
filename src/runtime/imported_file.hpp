// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fcntl.h>

#include "driver/descriptor.hpp"

namespace cudacore {

/// The driver takes the file that it imports over, but only if it succeeds: it gets its own.
inline driver::Descriptor duplicate_file(const char* function, int fd) {
  driver::Descriptor copy(fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (copy) return copy;
  if (fd >= 0 && errno != EBADF) {
    throw std::system_error(errno, std::generic_category(), std::string(function) + ": fd");
  }
  throw std::invalid_argument(std::string(function) + ": " + std::to_string(fd) +
                              " is not an open file");
}

}  // namespace cudacore

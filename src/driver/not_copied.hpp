// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cudacore::driver {

/// The base of scopes and owners: they are neither copied nor moved.
struct NotCopied {
  NotCopied() = default;
  NotCopied(const NotCopied&) = delete;
  NotCopied& operator=(const NotCopied&) = delete;
};

}  // namespace cudacore::driver

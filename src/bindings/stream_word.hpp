// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/collector.hpp"

// Words of memory that streams write and wait for.

namespace cudacore::bindings {

/// Binds Stream.write_value and Stream.wait_value.
void add_stream_words(HeapClass<Stream>& type);

}  // namespace cudacore::bindings

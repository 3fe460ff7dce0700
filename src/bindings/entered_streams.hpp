// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/collector.hpp"

// The current stream: what a thread has entered by `with stream:` and not left.

namespace cudacore::bindings {

/// The Stream object of the innermost `with stream:` of the calling thread, borrowed; null if
/// there is none.
[[nodiscard]] PyObject* entered_stream() noexcept;
/// The current stream outside every `with stream:`: the legacy default stream.
[[nodiscard]] const Stream& default_stream();
void enter_stream(ObjectOf<Stream> stream);
void leave_stream(const ObjectOf<Stream>& stream);

}  // namespace cudacore::bindings

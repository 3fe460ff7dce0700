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
/// `by` tells whose `with` block it is: the address of the stream's object, or of a builder's box.
void enter_stream(ObjectOf<Stream> stream, const void* by);
/// Ends the innermost block of `by`, which need not be the innermost of all.
/// @throw std::runtime_error, with `what` in front, if the thread is in none.
void leave_stream(const void* by, const char* what);

}  // namespace cudacore::bindings

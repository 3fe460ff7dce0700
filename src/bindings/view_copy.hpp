// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/strided_view.hpp"

// Copies between views, and fills.

namespace cudacore::bindings {

/// Copies between views of the same shape and type (copy_strided()). `blocking` None waits if
/// either memory is the host's. `what` begins the messages.
/// @throw std::invalid_argument; NotSupportedError for strides that the driver can't copy.
void copy_view(const StridedView& target, const StridedView& source, py::handle stream,
               py::handle blocking, const char* what);

/// Sets all elements to a value (fill_strided()).
/// @throw TypeError, OverflowError, std::invalid_argument; NotSupportedError for strides that the
/// driver can't fill.
void fill_view(const ObjectOf<StridedView>& self, py::handle value, py::handle stream);

}  // namespace cudacore::bindings

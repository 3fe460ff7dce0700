// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/foreign_array.hpp"
#include "signature/view_layout.hpp"

namespace cudacore::bindings {

/// Writes an array as the bytes of a view: its address, and the extents and strides that the view's
/// type leaves open.
/// @throw ForeignArrayError if the view has another rank, other extents, or cannot have the array's
/// strides.
void pack_view(const signature::ViewLayout& layout, const ForeignArray& array,
               unsigned char* destination);

}  // namespace cudacore::bindings

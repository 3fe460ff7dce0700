// SPDX-License-Identifier: Apache-2.0
#include "bindings/view_index.hpp"

#include <algorithm>
#include <numeric>

#include "bindings/conversions.hpp"

namespace cudacore::bindings {
namespace {

/// One part of an index, converted.
struct Part {
  enum class Kind : std::uint8_t { index, slice, new_axis, ellipsis } kind;
  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 1;
};

Part to_part(py::handle item) {
  if (item.is_none()) return {Part::Kind::new_axis};
  if (item.ptr() == Py_Ellipsis) return {Part::Kind::ellipsis};
  if (is_index(item)) {
    const Index index = to_index(item);
    if (!index.fits) throw py::index_error("index " + shown(index.number) + " is out of range");
    return {Part::Kind::index, static_cast<Py_ssize_t>(index.value)};
  }
  Part part{Part::Kind::slice};
  if (PySlice_Check(item.ptr()) == 0) {
    refuse_type("StridedMemoryView: an index", "an int, a slice, None or ...", item,
                "; what picks elements one by one takes a copy");
  }
  if (PySlice_Unpack(item.ptr(), &part.start, &part.stop, &part.step) != 0) {
    throw py::error_already_set();
  }
  return part;
}

/// The parts of an index, with an Ellipsis for all dimensions that it doesn't name.
std::vector<Part> to_parts(const py::object& index, std::size_t rank) {
  std::vector<Part> parts;
  if (PyTuple_Check(index.ptr()) == 0) {
    parts.push_back(to_part(index));
  } else {
    for (const py::handle item : py::reinterpret_borrow<py::tuple>(index)) {
      parts.push_back(to_part(item));
    }
  }
  const auto count = [&](Part::Kind kind) {
    return static_cast<std::size_t>(std::count_if(
        parts.begin(), parts.end(), [kind](const Part& part) { return part.kind == kind; }));
  };
  const std::size_t named = count(Part::Kind::index) + count(Part::Kind::slice);
  if (named > rank) {
    throw py::index_error(std::to_string(named) + " indices for a view of " + std::to_string(rank) +
                          (rank == 1 ? " dimension" : " dimensions"));
  }
  const std::size_t ellipses = count(Part::Kind::ellipsis);
  if (ellipses > 1) throw py::index_error("an index has one ... at most");
  if (ellipses == 0) parts.push_back({Part::Kind::ellipsis});
  const auto rest = std::find_if(parts.begin(), parts.end(), [](const Part& part) {
    return part.kind == Part::Kind::ellipsis;
  });
  const Part whole{Part::Kind::slice, 0, PY_SSIZE_T_MAX, 1};
  const auto place = parts.erase(rest);
  parts.insert(place, rank - named, whole);
  return parts;
}

/// Ints, or one tuple of them.
std::vector<std::int64_t> spread(const py::args& given, const char* what) {
  return given.size() == 1 ? to_lengths(given[0], what) : to_lengths(given, what);
}

/// A share of a view that is about to be indexed.
StridedView opened(const StridedView& view) {
  require_open(view);
  StridedView made = view;
  made.has_strides = false;
  return made;
}

}  // namespace

StridedView at_index(const StridedView& view, const py::object& index) {
  const std::vector<Part> parts = to_parts(index, view.layout.rank());
  StridedView made = opened(view);
  std::int64_t offset = 0;
  std::size_t dimension = 0;
  for (const Part& part : parts) {
    switch (part.kind) {
      case Part::Kind::index:
        try {
          made.layout.take(dimension, part.start, offset);
        } catch (const std::out_of_range& error) {
          throw py::index_error(error.what());
        }
        break;
      case Part::Kind::slice: {
        Py_ssize_t start = part.start;
        Py_ssize_t stop = part.stop;
        const Py_ssize_t count =
            PySlice_AdjustIndices(made.layout.shape()[dimension], &start, &stop, part.step);
        made.layout.slice(dimension++, start, part.step, count, offset);
        break;
      }
      default:
        made.layout.insert(dimension++);
    }
  }
  made.address += static_cast<CUdeviceptr>(offset * static_cast<std::int64_t>(made.element.size));
  return made;
}

StridedView reshaped(const StridedView& view, const py::args& shape) {
  std::vector<std::int64_t> lengths = spread(shape, "StridedMemoryView.reshape: shape");
  StridedView made = opened(view);
  std::optional<StridedLayout> layout = made.layout.reshaped(std::move(lengths));
  if (!layout) {
    throw py::value_error("StridedMemoryView.reshape: strides " +
                          shape_text(made.layout.strides()) + " of shape " +
                          shape_text(made.layout.shape()) +
                          " allow this shape only with a copy, which a view doesn't make");
  }
  made.layout = *std::move(layout);
  return made;
}

StridedView transposed(const StridedView& view, const py::args& axes) {
  std::vector<std::int64_t> order;
  const bool is_default = axes.empty() || (axes.size() == 1 && axes[0].is_none());
  if (is_default) {
    order.resize(view.layout.rank());
    std::iota(order.rbegin(), order.rend(), 0);
  } else {
    order = spread(axes, "StridedMemoryView.transpose: axes");
  }
  StridedView made = opened(view);
  made.layout = made.layout.transposed(order);
  return made;
}

}  // namespace cudacore::bindings

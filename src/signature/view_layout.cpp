// SPDX-License-Identifier: Apache-2.0
#include "signature/view_layout.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>
#include <stdexcept>

#include "signature/cxx_text.hpp"
#include "signature/cxx_type.hpp"
#include "signature/cxx_type_names.hpp"

namespace cudacore::signature {
namespace {

using Order = ViewLayout::Order;
using Arguments = std::vector<std::string_view>;

constexpr std::string_view mdspan = "cuda::std::mdspan";
constexpr std::string_view array_view = "cudacore::array_view";
constexpr std::size_t most_dimensions = 64;
constexpr std::size_t pointer_size = 8;

/// The arguments of a template; empty if the type is another's.
Arguments arguments_of(std::string_view type, std::string_view name) {
  if (!type.starts_with(name) || !type.ends_with('>') || type.size() < name.size() + 2 ||
      type[name.size()] != '<') {
    return {};
  }
  const std::size_t open = name.size() + 1;
  return split_arguments(type.substr(open, type.size() - open - 1));
}

std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

/// Sets the type of the extents; false if it is not an integer.
bool set_index(ViewLayout& layout, std::string_view type) {
  const NamedType named = named_type(type);
  const bool is_signed = named.kind == ParamKind::sint;
  if ((!is_signed && named.kind != ParamKind::uint) || named.size > 8) return false;
  layout.index_size = named.size;
  const std::size_t bits = 8 * named.size - (is_signed ? 1 : 0);
  layout.largest_index =
      bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
  return true;
}

/// Sets what "cuda::std::extents<int, 4, 18446744073709551615>" says.
bool set_extents(ViewLayout& layout, std::string_view type) {
  const Arguments arguments = arguments_of(type, "cuda::std::extents");
  if (arguments.empty() || arguments.size() > most_dimensions + 1) return false;
  for (const std::string_view extent : std::span(arguments).subspan(1)) {
    const auto value = to_number(extent);
    if (!value) return false;
    const bool is_dynamic = *value == std::numeric_limits<std::uint64_t>::max();
    if (!is_dynamic && *value > std::numeric_limits<std::int64_t>::max()) return false;
    layout.extents.push_back(is_dynamic ? ViewLayout::dynamic : static_cast<std::int64_t>(*value));
  }
  return set_index(layout, arguments[0]);
}

bool set_order(ViewLayout& layout, std::string_view policy) {
  if (policy == "cuda::std::layout_right") {
    layout.order = Order::right;
  } else if (policy == "cuda::std::layout_left") {
    layout.order = Order::left;
  } else if (policy == "cuda::std::layout_stride") {
    layout.order = Order::strided;
  } else {
    return false;
  }
  return true;
}

bool set_mdspan(ViewLayout& layout, const Arguments& arguments) {
  return arguments.size() == 4 && set_extents(layout, arguments[1]) &&
         set_order(layout, arguments[2]) &&
         arguments[3].starts_with("cuda::std::default_accessor<");
}

bool set_array_view(ViewLayout& layout, const Arguments& arguments) {
  const auto rank = arguments.size() == 3 ? to_number(arguments[1]) : std::nullopt;
  if (!rank || *rank == 0 || *rank > most_dimensions) return false;
  layout.extents.assign(*rank, ViewLayout::dynamic);
  layout.order = Order::any_order;
  return set_index(layout, arguments[2]);
}

/// Whether a parameter of `size` bytes can have this layout.
bool has_size(const ViewLayout& layout, std::size_t size) {
  const bool has_strides = layout.order == Order::strided || layout.order == Order::any_order;
  const auto extents = static_cast<std::size_t>(
      std::count(layout.extents.begin(), layout.extents.end(), ViewLayout::dynamic));
  const std::size_t indices = extents + (has_strides ? layout.extents.size() : 0);
  // The CCCL of CUDA 12 gives a mapping without members a place of its own behind the address.
  if (indices == 0) return size == pointer_size || size == 2 * pointer_size;
  const std::size_t bytes = pointer_size + indices * layout.index_size;
  return size == (bytes + pointer_size - 1) / pointer_size * pointer_size;
}

}  // namespace

bool is_view(const Param& param) noexcept {
  const std::string_view type = param.type;
  return param.kind == ParamKind::structure &&
         (type.starts_with("cuda::std::mdspan<") || type.starts_with("cudacore::array_view<"));
}

std::optional<ViewLayout> view_layout(const Param& param) {
  if (!is_view(param)) return std::nullopt;
  ViewLayout layout;
  const Arguments span = arguments_of(param.type, mdspan);
  const Arguments view = arguments_of(param.type, array_view);
  const bool is_known = span.empty() ? set_array_view(layout, view) : set_mdspan(layout, span);
  if (!is_known || !has_size(layout, param.size)) return std::nullopt;
  try {
    layout.pointer = parse_parameter(std::string(span.empty() ? view[0] : span[0]) + "*");
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  return layout;
}

}  // namespace cudacore::signature

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cudacore::compile {

/// The header for kernels that take arrays with their shape and strides.
inline constexpr std::string_view array_view_name = "cudacore/array_view.cuh";
inline constexpr std::string_view array_view_text = R"cuda(#pragma once

namespace cudacore {

// An array as a kernel's parameter, passed by value. A launch fills it in from any array of that
// element type and number of dimensions. Strides are in elements, and may be 0 or negative.
template <typename T, int rank, typename Index = long long>
struct array_view {
  static_assert(rank > 0, "an array_view has at least one dimension");

  T* data;
  Index shape[rank];
  Index strides[rank];

  // The element at as many indices as there are dimensions: view(row, column).
  template <typename... Indices>
  __host__ __device__ constexpr T& operator()(Indices... indices) const {
    static_assert(sizeof...(Indices) == rank, "one index for each dimension");
    const Index at[rank] = {static_cast<Index>(indices)...};
    Index offset = 0;
    for (int i = 0; i < rank; ++i) offset += at[i] * strides[i];
    return data[offset];
  }

  // The element at an index, of an array with one dimension.
  __host__ __device__ constexpr T& operator[](Index index) const {
    static_assert(rank == 1, "view[i] is for one dimension; use view(i, j, ...)");
    return data[index * strides[0]];
  }

  // The number of elements.
  __host__ __device__ constexpr Index size() const {
    Index count = 1;
    for (int i = 0; i < rank; ++i) count *= shape[i];
    return count;
  }
};

}  // namespace cudacore
)cuda";

}  // namespace cudacore::compile

// SPDX-License-Identifier: Apache-2.0
#include "signature/view_layout.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cudacore::signature {
namespace {

using Order = ViewLayout::Order;

constexpr std::int64_t dynamic = ViewLayout::dynamic;

std::optional<ViewLayout> layout(std::string type, std::size_t size) {
  Param param;
  param.kind = ParamKind::structure;
  param.size = size;
  param.type = std::move(type);
  return view_layout(param);
}

std::string mdspan(const std::string& element, const std::string& extents,
                   const std::string& order) {
  return "cuda::std::mdspan<" + element + ", cuda::std::extents<" + extents +
         ">, cuda::std::" + order + ", cuda::std::default_accessor<" + element + ">>";
}

constexpr char any[] = "18446744073709551615";

TEST(ViewLayout, ReadsMdspans) {
  const auto right = layout(
      mdspan("float const", "unsigned long, " + std::string(any) + ", 3", "layout_right"), 16);
  ASSERT_TRUE(right);
  EXPECT_EQ(right->order, Order::right);
  EXPECT_EQ(right->extents, (std::vector<std::int64_t>{dynamic, 3}));
  EXPECT_EQ(right->index_size, 8U);
  EXPECT_EQ(right->pointer.pointee, ParamKind::float32);
  EXPECT_TRUE(right->pointer.pointee_const);

  const auto left = layout(mdspan("double", "int, 3, 4", "layout_left"), 8);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->order, Order::left);

  EXPECT_TRUE(layout(mdspan("double", "int, 3, 4", "layout_left"), 16)) << "as in CUDA 12";

  const auto strided =
      layout(mdspan("double", "short, 3, " + std::string(any), "layout_stride"), 16);
  ASSERT_TRUE(strided);
  EXPECT_EQ(strided->order, Order::strided);
  EXPECT_EQ(strided->largest_index, 32767);

  const auto scalar = layout(mdspan("double", "unsigned char", "layout_stride"), 8);
  ASSERT_TRUE(scalar);
  EXPECT_TRUE(scalar->extents.empty());
  EXPECT_EQ(scalar->largest_index, 255);
}

TEST(ViewLayout, ReadsArrayViews) {
  const auto view = layout("cudacore::array_view<float, 2, long long>", 40);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->order, Order::any_order);
  EXPECT_EQ(view->extents, (std::vector<std::int64_t>{dynamic, dynamic}));
  EXPECT_FALSE(view->pointer.pointee_const);
  EXPECT_TRUE(layout("cudacore::array_view<ns::point<int, 3> const, 1, int>", 16));
}

TEST(ViewLayout, IsUnsetIfTheSizeDiffers) {
  EXPECT_FALSE(layout("cudacore::array_view<float, 2, long long>", 32));
  EXPECT_FALSE(layout(mdspan("float", "int, 3, 4", "layout_right"), 24));
  EXPECT_FALSE(layout(mdspan("float", "int, 3, 4", "layout_right"), 0));
  EXPECT_FALSE(layout(mdspan("float", "int, 3, 4", "layout_stride"), 8));
}

TEST(ViewLayout, IsUnsetForWhatIsNoView) {
  for (const char* const type : {"",
                                 "float",
                                 "mdspan<float>",
                                 "std::mdspan<float>",
                                 "cuda::std::mdspan",
                                 "cuda::std::mdspan<",
                                 "cuda::std::mdspan<>",
                                 "cuda::std::mdspan<float",
                                 "cuda::std::mdspan<float>",
                                 "cuda::std::mdspan<,,,>",
                                 "cuda::std::mdspanner<float>",
                                 "cudacore::array_view",
                                 "cudacore::array_view<>",
                                 "cudacore::array_view<float, 0, int>",
                                 "cudacore::array_view<float, -1, int>",
                                 "cudacore::array_view<float, 65, int>",
                                 "cudacore::array_view<float, 99999999999999999999999, int>",
                                 "cudacore::array_view<float, x, int>",
                                 "cudacore::array_view<float, 2, float>",
                                 "cudacore::array_view<float, 2, point>",
                                 "cudacore::array_view<, 2, int>",
                                 "cudacore::array_view<float>>, 2, int>",
                                 "cudacore::array_view<<<<, 2, int>"}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{8}, std::size_t{24}}) {
      EXPECT_FALSE(layout(type, size)) << type;
    }
  }
}

TEST(ViewLayout, IsUnsetForOtherPolicies) {
  EXPECT_FALSE(layout(mdspan("float", "int, 3", "layout_right_padded<4>"), 8));
  EXPECT_FALSE(layout(mdspan("float", "float, 3", "layout_right"), 8));
  EXPECT_FALSE(layout(mdspan("float", "int, x", "layout_right"), 8));
  EXPECT_FALSE(layout(mdspan("float", "int, 18446744073709551614", "layout_right"), 8));
  EXPECT_FALSE(
      layout("cuda::std::mdspan<float, cuda::std::extents<int, 3>, cuda::std::layout_right, "
             "own::accessor<float>>",
             8));
  std::string many = "int";
  for (int i = 0; i < 65; ++i) many += ", 1";
  EXPECT_FALSE(layout(mdspan("float", many, "layout_right"), 8));
}

}  // namespace
}  // namespace cudacore::signature

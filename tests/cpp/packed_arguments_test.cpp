// SPDX-License-Identifier: Apache-2.0
#include "launch/packed_arguments.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "cudacore/error.hpp"

namespace cudacore::launching {
namespace {

Param none(std::size_t /*index*/) {
  ADD_FAILURE() << "asked for what the signature tells";
  return {};
}

/// A kernel that takes so many structs of 24 bytes and doubles by turns.
Signature signature(std::size_t count) {
  Signature made;
  for (std::size_t i = 0; i < count; ++i) {
    made.params.push_back(i % 2 == 0 ? make_param(ParamKind::structure, 24)
                                     : make_param(ParamKind::float64, 8));
  }
  return made;
}

class Count : public testing::TestWithParam<std::size_t> {};

TEST_P(Count, OfArgumentsHasRoomForEach) {
  KernelBox kernel;
  kernel.set_signature(signature(GetParam()));
  PackedArguments packed(kernel, GetParam(), none);
  ASSERT_EQ(packed.slots().size(), GetParam());
  for (std::size_t i = 0; i < GetParam(); ++i) {
    std::memset(packed.places()[i], static_cast<int>(i % 251), packed.slots()[i].size);
  }
  for (std::size_t i = 0; i < GetParam(); ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(packed.places()[i]) % 8, 0U);
    const auto* bytes = static_cast<const unsigned char*>(packed.places()[i]);
    EXPECT_EQ(bytes[0], i % 251);
    EXPECT_EQ(bytes[packed.slots()[i].size - 1], i % 251);
  }
}

INSTANTIATE_TEST_SUITE_P(OnStackAndHeap, Count, testing::Values(0U, 2U, 200U, 512U, 3000U));

TEST(PackedArguments, LaysOutWhatArgumentsSayOfAnUnknownKernel) {
  const KernelBox kernel;
  const PackedArguments packed(kernel, 2, [](std::size_t i) {
    return i == 0 ? make_param(ParamKind::pointer, 8) : make_param(ParamKind::structure, 5);
  });
  ASSERT_EQ(packed.slots().size(), 2U);
  EXPECT_EQ(packed.slots()[0].kind, ParamKind::pointer);
  EXPECT_EQ(packed.slots()[1].size, 5U);
}

TEST(PackedArguments, RefusesAnotherNumberOfArguments) {
  KernelBox kernel;
  kernel.set_signature(signature(2));
  EXPECT_THROW(PackedArguments(kernel, 3, none), TypeMismatchError);
}

}  // namespace
}  // namespace cudacore::launching

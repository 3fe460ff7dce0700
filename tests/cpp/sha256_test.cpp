// SPDX-License-Identifier: Apache-2.0
#include "compile/sha256.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cudacore::compile {
namespace {

std::string hash_of(std::string_view text) {
  return to_hex(sha256(std::as_bytes(std::span(text))));
}

/// The vectors of FIPS 180-4 and of NIST's examples.
TEST(Sha256, GivesTheStandardsDigests) {
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                    "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(hash_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheBytesAreDivided) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  for (std::size_t size = 0; size <= text.size(); ++size) {
    for (const std::size_t step : {1U, 3U, 63U, 64U, 65U}) {
      Sha256 hash;
      for (std::size_t i = 0; i < size; i += step) {
        hash.update(
            std::as_bytes(std::span(std::string_view(text).substr(i, std::min(step, size - i)))));
      }
      ASSERT_EQ(to_hex(hash.finish()), hash_of(std::string_view(text).substr(0, size)));
    }
  }
}

TEST(Sha256, ThePortableCodeAgrees) {
  Sha256::State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  // "abc", padded to a block.
  std::vector<std::byte> block(Sha256::block_size);
  block[0] = std::byte{'a'};
  block[1] = std::byte{'b'};
  block[2] = std::byte{'c'};
  block[3] = std::byte{0x80};
  block[63] = std::byte{24};
  compress_portably(state, block);
  const Sha256::State expected = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                  0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
  EXPECT_EQ(state, expected);
}

TEST(FieldHash, KeepsFieldsApart) {
  const auto digest = [](std::initializer_list<std::string_view> fields) {
    FieldHash hash;
    for (const std::string_view field : fields) hash.add(field);
    return hash.finish();
  };
  EXPECT_NE(digest({"ab", "c"}), digest({"a", "bc"}));
  EXPECT_NE(digest({"ab"}), digest({"ab", ""}));
  EXPECT_EQ(digest({"ab", "c"}), digest({"ab", "c"}));
}

}  // namespace
}  // namespace cudacore::compile

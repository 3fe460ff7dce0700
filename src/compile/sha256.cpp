// SPDX-License-Identifier: Apache-2.0
#include "compile/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace cudacore::compile {
namespace {

constexpr std::array<std::uint32_t, 64> rounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const std::byte* bytes) noexcept {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return word;
}

#if defined(__x86_64__)

struct Words {
  __m128i four;
};

/// With the SHA extensions: two rounds an instruction.
__attribute__((target("sha,sse4.1,ssse3"))) void compress_with_sha_instructions(
    Sha256::State& state, std::span<const std::byte> blocks) noexcept {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const auto constants = [](std::size_t i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(&rounds[i]));
  };
  // The instructions want the words as ABEF and CDGH.
  __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(state.data()));
  __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(state.data() + 4));
  low = _mm_shuffle_epi32(low, 0xB1);
  high = _mm_shuffle_epi32(high, 0x1B);
  __m128i abef = _mm_alignr_epi8(low, high, 8);
  __m128i cdgh = _mm_blend_epi16(high, low, 0xF0);

  for (; blocks.size() >= Sha256::block_size; blocks = blocks.subspan(Sha256::block_size)) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    std::array<Words, 4> words{};
    for (std::size_t i = 0; i < 4; ++i) {
      words[i].four = _mm_shuffle_epi8(
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks.data() + 16 * i)), swap);
    }
    for (std::size_t group = 0; group < 16; ++group) {
      __m128i& word = words[group % 4].four;
      if (group >= 4) {
        const __m128i next = words[(group + 1) % 4].four;
        const __m128i third = words[(group + 2) % 4].four;
        const __m128i last = words[(group + 3) % 4].four;
        word = _mm_add_epi32(_mm_sha256msg1_epu32(word, next), _mm_alignr_epi8(last, third, 4));
        word = _mm_sha256msg2_epu32(word, last);
      }
      const __m128i sum = _mm_add_epi32(word, constants(4 * group));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data() + 4), _mm_alignr_epi8(dchg, feba, 8));
}

bool has_sha_instructions() noexcept {
  // Only newer compilers let __builtin_cpu_supports() ask for "sha".
  constexpr unsigned leaf = 7;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid_count(leaf, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0 &&
         __builtin_cpu_supports("sse4.1") != 0;
}

#endif

void compress(Sha256::State& state, std::span<const std::byte> blocks) noexcept {
#if defined(__x86_64__)
  static const bool has_instructions = has_sha_instructions();
  if (has_instructions) {
    compress_with_sha_instructions(state, blocks);
    return;
  }
#endif
  compress_portably(state, blocks);
}

}  // namespace

void compress_portably(Sha256::State& state, std::span<const std::byte> blocks) noexcept {
  for (; blocks.size() >= Sha256::block_size; blocks = blocks.subspan(Sha256::block_size)) {
    std::array<std::uint32_t, 64> words{};
    for (std::size_t i = 0; i < 16; ++i) words[i] = big_endian(blocks.data() + 4 * i);
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t early = words[i - 15];
      const std::uint32_t late = words[i - 2];
      const std::uint32_t s0 = std::rotr(early, 7) ^ std::rotr(early, 18) ^ early >> 3;
      const std::uint32_t s1 = std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10;
      words[i] = words[i - 16] + s0 + words[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const std::uint32_t first = h + s1 + ((e & f) ^ (~e & g)) + rounds[i] + words[i];
      const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const std::uint32_t second = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + first;
      d = c, c = b, b = a, a = first + second;
    }
    const Sha256::State added = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += added[i];
  }
}

void Sha256::update(std::span<const std::byte> bytes) noexcept {
  const std::size_t held = size_ % block_size;
  size_ += bytes.size();
  if (held != 0) {
    const std::size_t taken = std::min(block_size - held, bytes.size());
    std::copy_n(bytes.begin(), taken, rest_.begin() + static_cast<std::ptrdiff_t>(held));
    bytes = bytes.subspan(taken);
    if (held + taken < block_size) return;
    compress(state_, rest_);
  }
  const std::size_t whole = bytes.size() / block_size * block_size;
  if (whole != 0) compress(state_, bytes.first(whole));
  std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(whole), bytes.end(), rest_.begin());
}

Digest Sha256::finish() noexcept {
  const std::uint64_t bits = size_ * 8;
  std::array<std::byte, 2 * block_size> padding{std::byte{0x80}};
  constexpr std::size_t length_size = 8;
  const std::size_t held = size_ % block_size;
  const std::size_t size = (held < block_size - length_size ? 1 : 2) * block_size - held;
  for (std::size_t i = 0; i < length_size; ++i) {
    padding[size - 1 - i] = static_cast<std::byte>(bits >> 8 * i);
  }
  update(std::span(padding).first(size));
  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::byte>(state_[i / 4] >> 8 * (3 - i % 4));
  }
  return digest;
}

Digest sha256(std::span<const std::byte> bytes) noexcept {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

void FieldHash::add(std::string_view text) noexcept {
  add_number(text.size());
  hash_.update(std::as_bytes(std::span(text)));
}

void FieldHash::add_number(std::uint64_t number) noexcept {
  hash_.update(std::as_bytes(std::span(&number, 1)));
}

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<std::size_t>(byte >> 4)];
    text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

}  // namespace cudacore::compile

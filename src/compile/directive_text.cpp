// SPDX-License-Identifier: Apache-2.0
#include "compile/directive_text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace cudacore::compile {

namespace {

/// The size of the line continuation at `i`; 0 if there is none.
std::size_t continuation(std::string_view text, std::size_t i) noexcept {
  if (text.substr(i, 2) == "\\\n") return 2;
  return text.substr(i, 3) == "\\\r\n" ? 3 : 0;
}

}  // namespace

std::optional<std::string> joined_lines(std::string_view text) {
  std::string joined;
  std::size_t copied = 0;
  bool is_any = false;
  for (std::size_t i = text.find('\\'); i != std::string_view::npos; i = text.find('\\', i + 1)) {
    const std::size_t size = continuation(text, i);
    if (size == 0) continue;
    is_any = true;
    joined.append(text, copied, i - copied);
    copied = i + size;
  }
  if (!is_any) return std::nullopt;
  return joined.append(text, copied);
}

std::size_t index_of(std::string_view text, std::string_view wanted, std::size_t i) noexcept {
#if defined(__SSE2__)
  // 16 places at once, by the first and the last character.
  const __m128i first = _mm_set1_epi8(wanted.front());
  const __m128i last = _mm_set1_epi8(wanted.back());
  const std::size_t length = wanted.size();
  for (; i + length + sizeof(__m128i) <= text.size(); i += sizeof(__m128i)) {
    const char* const place = text.data() + i;
    const auto load = [](const char* from) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    };
    const __m128i match = _mm_and_si128(_mm_cmpeq_epi8(first, load(place)),
                                        _mm_cmpeq_epi8(last, load(place + length - 1)));
    for (auto found = static_cast<unsigned>(_mm_movemask_epi8(match)); found != 0;
         found &= found - 1) {
      const auto at = static_cast<std::size_t>(std::countr_zero(found));
      if (std::memcmp(place + at, wanted.data(), length) == 0) return i + at;
    }
  }
#endif
  return text.find(wanted, i);
}

std::uint32_t occurring(std::string_view text, std::span<const std::string_view> wanted) noexcept {
  std::uint32_t found = 0;
  std::size_t i = 0;
#if defined(__SSE2__)
  // 16 places at once, by two characters of each. An underscore is too frequent to be one of them.
  struct Pair {
    __m128i first;
    __m128i second;
    std::size_t offset;  ///< in the text that is wanted
  };
  struct Matches {
    __m128i places;
  };
  std::array<Pair, 32> pairs;       // NOLINT: the first are set
  std::array<Matches, 32> matches;  // NOLINT: the first are set
  std::size_t longest = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const std::string_view one = wanted[k];
    const std::size_t offset = one.front() == '_' ? one.size() - 2 : 0;
    pairs[k] = {_mm_set1_epi8(one[offset]), _mm_set1_epi8(one[offset + 1]), offset};
    longest = std::max(longest, one.size());
  }
  const auto load = [&](std::size_t at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
  };
  for (; i + sizeof(__m128i) + longest <= text.size(); i += sizeof(__m128i)) {
    const __m128i here = load(i);
    const __m128i next = load(i + 1);
    __m128i any = _mm_setzero_si128();
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      matches[k].places = _mm_and_si128(_mm_cmpeq_epi8(here, pairs[k].first),
                                        _mm_cmpeq_epi8(next, pairs[k].second));
      any = _mm_or_si128(any, matches[k].places);
    }
    if (_mm_movemask_epi8(any) == 0) continue;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      for (auto at = static_cast<unsigned>(_mm_movemask_epi8(matches[k].places)); at != 0;
           at &= at - 1) {
        const std::size_t place = i + static_cast<std::size_t>(std::countr_zero(at));
        const bool is_whole =
            place >= pairs[k].offset && text.substr(place - pairs[k].offset).starts_with(wanted[k]);
        if (is_whole) found |= 1U << k;
      }
    }
  }
  i -= std::min(i, longest);  // what lies across the border
#endif
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (text.find(wanted[k], i) != std::string_view::npos) found |= 1U << k;
  }
  return found;
}

std::size_t skip_blanks(std::string_view text, std::size_t i, CommentEnds& ends) noexcept {
  while (i < text.size()) {
    if (text[i] != '\n' && signature::is_space(text[i])) {
      ++i;
    } else if (text.substr(i, 2) == "/*") {
      i = ends.behind(i);
    } else {
      break;
    }
  }
  return i;
}

std::size_t skip_blanks(std::string_view text, std::size_t i) noexcept {
  CommentEnds ends(text);
  return skip_blanks(text, i, ends);
}

std::string_view take_word(std::string_view text, std::size_t& i) noexcept {
  const std::size_t begin = i;
  while (i < text.size() && is_identifier_char(text[i])) ++i;
  return text.substr(begin, i - begin);
}

std::optional<HeaderMention> take_header(std::string_view text, std::size_t& i) {
  const bool is_quoted = text.substr(i, 1) == "\"";
  if (!is_quoted && text.substr(i, 1) != "<") return std::nullopt;
  // No system can open a longer path.
  constexpr std::size_t longest = 4096;
  const std::string_view rest = text.substr(i + 1, longest);
  const std::size_t size = rest.find_first_of(is_quoted ? "\"\n" : ">\n");
  if (size == std::string_view::npos || rest[size] == '\n') return std::nullopt;
  const std::string_view name = rest.substr(0, size);
  i += size + 2;
  return HeaderMention{std::string(name), is_quoted};
}

}  // namespace cudacore::compile

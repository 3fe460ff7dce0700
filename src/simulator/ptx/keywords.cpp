// SPDX-License-Identifier: Apache-2.0
#include "simulator/ptx/keywords.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace cudacore::simulator::ptx {
namespace {

using Entry = std::pair<std::string_view, Directive>;

constexpr auto directives = std::to_array<Entry>({
    {"abi_preserve", Directive::abi_preserve},
    {"abi_preserve_control", Directive::abi_preserve_control},
    {"address_size", Directive::address_size},
    {"alias", Directive::alias},
    {"align", Directive::align},
    {"attribute", Directive::attribute},
    {"blocksareclusters", Directive::blocksareclusters},
    {"branchtargets", Directive::branchtargets},
    {"callprototype", Directive::callprototype},
    {"calltargets", Directive::calltargets},
    {"common", Directive::common},
    {"const", Directive::constant},
    {"entry", Directive::entry},
    {"explicitcluster", Directive::explicitcluster},
    {"extern", Directive::external},
    {"file", Directive::file},
    {"func", Directive::func},
    {"global", Directive::global},
    {"loc", Directive::loc},
    {"local", Directive::local},
    {"maxclusterrank", Directive::maxclusterrank},
    {"maxnctapersm", Directive::maxnctapersm},
    {"maxnreg", Directive::maxnreg},
    {"maxntid", Directive::maxntid},
    {"minnctapersm", Directive::minnctapersm},
    {"noreturn", Directive::noreturn},
    {"param", Directive::param},
    {"pragma", Directive::pragma},
    {"ptr", Directive::ptr},
    {"reg", Directive::reg},
    {"reqnctapercluster", Directive::reqnctapercluster},
    {"reqntid", Directive::reqntid},
    {"section", Directive::section},
    {"shared", Directive::shared},
    {"target", Directive::target},
    {"v2", Directive::v2},
    {"v4", Directive::v4},
    {"v8", Directive::v8},
    {"version", Directive::version},
    {"visible", Directive::visible},
    {"weak", Directive::weak},
});
static_assert(std::ranges::is_sorted(directives, {}, &Entry::first));

constexpr auto special_vectors = std::to_array<std::string_view>({
    "%cluster_ctaid",
    "%cluster_nctaid",
    "%clusterid",
    "%ctaid",
    "%nclusterid",
    "%nctaid",
    "%ntid",
    "%tid",
});
static_assert(std::ranges::is_sorted(special_vectors));

constexpr auto special_scalars = std::to_array<std::string_view>({
    "%aggr_smem_size",
    "%clock",
    "%clock64",
    "%clock_hi",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%current_graph_exec",
    "%dynamic_smem_size",
    "%globaltimer",
    "%globaltimer_hi",
    "%globaltimer_lo",
    "%gridid",
    "%is_explicit_cluster",
    "%laneid",
    "%lanemask_eq",
    "%lanemask_ge",
    "%lanemask_gt",
    "%lanemask_le",
    "%lanemask_lt",
    "%nsmid",
    "%nwarpid",
    "%reserved_smem_offset_0",
    "%reserved_smem_offset_1",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_cap",
    "%reserved_smem_offset_end",
    "%smid",
    "%total_smem_size",
    "%warpid",
});
static_assert(std::ranges::is_sorted(special_scalars));

/// Packs up to eight characters into one number, so that words can be cases of a switch.
constexpr std::uint64_t packed(std::string_view word) noexcept {
  if (word.size() > sizeof(std::uint64_t)) return 0;
  std::uint64_t value = 0;
  for (const char c : word) value = value << 8U | static_cast<unsigned char>(c);
  return value;
}

/// Whether a name consists of a prefix and a number below a limit: "%envreg31".
bool is_numbered(std::string_view name, std::string_view prefix, unsigned limit) noexcept {
  if (!name.starts_with(prefix)) return false;
  const char* const end = name.data() + name.size();
  const char* const digits = name.data() + prefix.size();
  unsigned number = limit;
  const auto [rest, error] = std::from_chars(digits, end, number);
  return error == std::errc{} && rest == end && number < limit &&
         (*digits != '0' || rest == digits + 1);
}

}  // namespace

Directive directive_of(std::string_view word) noexcept {
  const auto found = std::ranges::lower_bound(directives, word, {}, &Entry::first);
  return found != directives.end() && found->first == word ? found->second : Directive::unknown;
}

std::optional<Type> type_of(std::string_view word) noexcept {
  switch (packed(word)) {
    case packed("pred"):
      return Type::pred;
    case packed("b8"):
      return Type::b8;
    case packed("b16"):
      return Type::b16;
    case packed("b32"):
      return Type::b32;
    case packed("b64"):
      return Type::b64;
    case packed("b128"):
      return Type::b128;
    case packed("u8"):
      return Type::u8;
    case packed("u16"):
      return Type::u16;
    case packed("u32"):
      return Type::u32;
    case packed("u64"):
      return Type::u64;
    case packed("s8"):
      return Type::s8;
    case packed("s16"):
      return Type::s16;
    case packed("s32"):
      return Type::s32;
    case packed("s64"):
      return Type::s64;
    case packed("f16"):
      return Type::f16;
    case packed("f16x2"):
      return Type::f16x2;
    case packed("bf16"):
      return Type::bf16;
    case packed("bf16x2"):
      return Type::bf16x2;
    case packed("f32"):
      return Type::f32;
    case packed("f64"):
      return Type::f64;
    default:
      return std::nullopt;
  }
}

std::optional<Space> space_of(Directive directive) noexcept {
  switch (directive) {
    case Directive::constant:
      return Space::constant;
    case Directive::global:
      return Space::global;
    case Directive::local:
      return Space::local;
    case Directive::param:
      return Space::param;
    case Directive::shared:
      return Space::shared;
    default:
      return std::nullopt;
  }
}

bool is_opaque_type(std::string_view word) noexcept {
  return word == "texref" || word == "samplerref" || word == "surfref";
}

bool is_special_vector(std::string_view name) noexcept {
  return std::ranges::binary_search(special_vectors, name);
}

bool is_special_register(std::string_view name) noexcept {
  if (is_special_vector(name) || std::ranges::binary_search(special_scalars, name)) return true;
  if (is_numbered(name, "%envreg", 32)) return true;
  const std::string_view low = name.ends_with("_64") ? name.substr(0, name.size() - 3) : name;
  return is_numbered(low, "%pm", 8);
}

}  // namespace cudacore::simulator::ptx

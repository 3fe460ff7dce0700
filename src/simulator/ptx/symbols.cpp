// SPDX-License-Identifier: Apache-2.0
#include "simulator/ptx/symbols.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>

namespace cudacore::simulator::ptx {
namespace {

constexpr std::size_t first_buckets = 256;

std::uint32_t hash_of(std::string_view name) noexcept {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15U;
  std::uint64_t hash = name.size() * factor;
  const char* at = name.data();
  std::size_t left = name.size();
  for (; left >= sizeof(hash); left -= sizeof(hash), at += sizeof(hash)) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof(word));
    hash = (hash ^ word) * factor;
    hash ^= hash >> 29U;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, at, left);
  hash = (hash ^ word) * factor;
  return static_cast<std::uint32_t>(hash >> 32U);
}

bool ends_in_digit(std::string_view name) noexcept {
  return name.back() >= '0' && name.back() <= '9';
}

/// Whether a single symbol has the name of one of a family's registers.
bool is_member(const Symbol& family, const Symbol& symbol) noexcept {
  if (symbol.kind == Symbol::Kind::family || !symbol.name.starts_with(family.name)) return false;
  const std::string_view digits = symbol.name.substr(family.name.size());
  if (digits.empty() || (digits.front() == '0' && digits.size() > 1)) return false;
  std::uint32_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  return error == std::errc{} && rest == end && number < family.count;
}

}  // namespace

Symbols::Symbols() : buckets_(first_buckets, 0) {}

template <typename Fits>
const Symbol* Symbols::find_if(std::string_view name, std::uint32_t hash,
                               Fits fits) const noexcept {
  for (std::uint32_t at = buckets_[hash & (buckets_.size() - 1)]; at != 0;) {
    const Symbol& symbol = symbols_[at - 1];
    if (symbol.hash == hash && symbol.name == name && fits(symbol)) return &symbol;
    at = symbol.next;
  }
  return nullptr;
}

const Symbol* Symbols::find(std::string_view name) const noexcept {
  return find_if(name, hash_of(name),
                 [](const Symbol& symbol) { return symbol.kind != Symbol::Kind::family; });
}

Symbol* Symbols::find(std::string_view name) noexcept {
  const Symbol* const found = static_cast<const Symbols*>(this)->find(name);
  return found == nullptr ? nullptr : &symbols_[static_cast<std::size_t>(found - symbols_.data())];
}

void Symbols::open_scope() { scopes_.push_back({symbols_.size(), false}); }

void Symbols::close_scope() {
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  while (symbols_.size() > scope.first_symbol) {
    const Symbol& symbol = symbols_.back();
    buckets_[symbol.hash & (buckets_.size() - 1)] = symbol.next;
    if (symbol.shadows) --shadowing_;
    if (symbol.kind == Symbol::Kind::family) {
      --families_;
    } else if (ends_in_digit(symbol.name)) {
      --numbered_;
    }
    symbols_.pop_back();
  }
  if (scope.forget) forget_recent();
}

bool Symbols::declare(Symbol symbol) {
  symbol.hash = hash_of(symbol.name);
  symbol.depth = depth();
  const bool family = symbol.kind == Symbol::Kind::family;
  const bool numbered = ends_in_digit(symbol.name);
  const auto same = [&](const Symbol& other) {
    return (other.kind == Symbol::Kind::family) == family;
  };
  const Symbol* const before = find_if(symbol.name, symbol.hash, same);
  if (before != nullptr && before->depth == symbol.depth) return false;
  if (family) {
    if (numbered_ != 0 && family_clashes(symbol)) return false;
    symbol.shadows = numbered;
    ++families_;
  } else if (numbered) {
    if (families_ != 0) {
      const Member member = find_member(symbol.name);
      if (member.family != nullptr && member.family->depth == symbol.depth) return false;
      symbol.shadows = member.family != nullptr;
    }
    ++numbered_;
  }
  if (symbol.shadows) ++shadowing_;
  if (family || symbol.shadows) {
    forget_recent();
    if (!scopes_.empty()) scopes_.back().forget = true;
  }
  if (symbols_.size() + 1 > buckets_.size()) rehash();
  std::uint32_t& bucket = buckets_[symbol.hash & (buckets_.size() - 1)];
  symbol.next = bucket;
  symbols_.push_back(symbol);
  bucket = static_cast<std::uint32_t>(symbols_.size());
  return true;
}

void Symbols::rehash() {
  buckets_.assign(buckets_.size() * 2, 0);
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    std::uint32_t& bucket = buckets_[symbols_[i].hash & (buckets_.size() - 1)];
    symbols_[i].next = bucket;
    bucket = static_cast<std::uint32_t>(i + 1);
  }
}

Symbols::Member Symbols::find_member(std::string_view name) const noexcept {
  constexpr std::size_t most_digits = 10;
  Member best;
  std::size_t at = name.size();
  while (at > 1 && name.size() - at < most_digits && name[at - 1] >= '0' && name[at - 1] <= '9') {
    --at;
    if (name[at] == '0' && name.size() - at > 1) continue;
    std::uint64_t number = 0;
    std::from_chars(name.data() + at, name.data() + name.size(), number);
    const std::string_view prefix = name.substr(0, at);
    const Symbol* const found = find_if(prefix, hash_of(prefix), [&](const Symbol& symbol) {
      return symbol.kind == Symbol::Kind::family && number < symbol.count;
    });
    if (found != nullptr && (best.family == nullptr || found->depth > best.family->depth)) {
      best = {found, static_cast<std::uint32_t>(number)};
    }
  }
  return best;
}

bool Symbols::family_clashes(const Symbol& family) const {
  // Whichever is less: the names in the scope, or those of the family.
  const std::size_t first = scopes_.empty() ? 0 : scopes_.back().first_symbol;
  if (symbols_.size() - first < family.count) {
    const auto clashes = [&](const Symbol& symbol) { return is_member(family, symbol); };
    return std::any_of(symbols_.begin() + static_cast<std::ptrdiff_t>(first), symbols_.end(),
                       clashes);
  }
  std::string name(family.name);
  for (std::uint32_t i = 0; i < family.count; ++i) {
    name.resize(family.name.size());
    name += std::to_string(i);
    const Symbol* const found = find(name);
    if (found != nullptr && found->depth == family.depth) return true;
  }
  return false;
}

RegisterRange Symbols::find_register_slowly(std::string_view name) noexcept {
  const Symbol* const exact = find(name);
  Member member;
  if (families_ != 0 && ends_in_digit(name)) member = find_member(name);
  if (member.family == nullptr || (exact != nullptr && exact->depth > member.family->depth)) {
    if (exact == nullptr || exact->kind != Symbol::Kind::reg) return {};
    return {exact->index, exact->width};
  }
  const Symbol& family = *member.family;
  const Key key = key_of(name);
  const auto is_family = [](const Symbol& symbol) { return symbol.kind == Symbol::Kind::family; };
  const bool innermost = find_if(family.name, family.hash, is_family) == &family;
  if (key.prefix != 0 && shadowing_ == 0 && innermost) {
    recent_[key.slot] = {key.prefix, family.index, family.count, family.width};
  }
  return {family.index + member.number * family.width, family.width};
}

}  // namespace cudacore::simulator::ptx

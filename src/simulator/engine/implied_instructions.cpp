// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/implied_instructions.hpp"

#include <bit>
#include <string>

#include "simulator/engine/image.hpp"

namespace cudacore::simulator {
namespace {

unsigned log2(unsigned width) noexcept { return static_cast<unsigned>(std::countr_zero(width)); }

}  // namespace

Handler ImpliedInstructions::find(std::string_view key, std::string_view signature) const {
  for (const Form& form : table_.find(key)) {
    if (signature.empty() || form.signature == signature) return form.run;
  }
  throw LoadError(
      LoadError::Kind::not_simulated,
      "the form '" + std::string(key) + "' (" + std::string(signature) + ") is not simulated");
}

Handler ImpliedInstructions::find(std::string_view key) const { return find(key, {}); }

Handler ImpliedInstructions::find_special(std::string_view name, char kind) const {
  std::string key = "special.";
  key += name;
  for (const Form& form : table_.find(key)) {
    if (form.signature.size() == 1 && form.signature.front() == kind) return form.run;
  }
  return nullptr;
}

Handler ImpliedInstructions::resize(bool is_signed, unsigned to, unsigned from) {
  Handler& known = resizes_.at((is_signed ? 64u : 0u) + log2(to) * 8 + log2(from));
  if (known == nullptr) {
    const bool extends = is_signed && to > from;
    known = find(extends ? "resize.s" : "resize.u", std::string{kind_of(to), kind_of(from)});
  }
  return known;
}

Handler ImpliedInstructions::negate_mask() {
  if (negate_mask_ == nullptr) negate_mask_ = find("not.pred");
  return negate_mask_;
}

Handler ImpliedInstructions::frame_access(bool is_store, unsigned width) {
  Handler& known = frame_accesses_.at((is_store ? 8u : 0u) + log2(width));
  if (known == nullptr) {
    known = find((is_store ? "st.frame.b" : "ld.frame.b") + std::to_string(width * 8),
                 std::string{kind_of(width)});
  }
  return known;
}

char ImpliedInstructions::kind_of(unsigned width) noexcept { return "bhwxq"[log2(width)]; }

}  // namespace cudacore::simulator

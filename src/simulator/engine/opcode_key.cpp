// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/opcode_key.hpp"

#include <algorithm>

#include "simulator/engine/modifier_order.hpp"

namespace cudacore::simulator {
namespace {

template <std::size_t N>
bool any_of(const std::array<std::string_view, N>& words, std::string_view word) noexcept {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr auto without_effect = std::to_array<std::string_view>(
    {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak", "uni", "noftz", "cta", "gpu", "sys"});

/// Calls `each` with each word of an opcode in turn.
template <typename Each>
void for_each_word(std::string_view opcode, Each each) {
  while (true) {
    const std::size_t dot = opcode.find('.');
    each(opcode.substr(0, dot));
    if (dot == std::string_view::npos) return;
    opcode.remove_prefix(dot + 1);
  }
}

std::string_view mnemonic_of(std::string_view opcode) noexcept {
  return opcode.substr(0, opcode.find('.'));
}

bool has_word(std::string_view key, std::string_view word) {
  bool found = false;
  for_each_word(key, [&](std::string_view each) { found = found || each == word; });
  return found;
}

bool is_operand_type(std::string_view word) noexcept {
  constexpr auto types = std::to_array<std::string_view>(
      {"pred", "b8",  "b16", "b32", "b64", "b128",  "u8",   "u16",    "u32", "u64",
       "s8",   "s16", "s32", "s64", "f16", "f16x2", "bf16", "bf16x2", "f32", "f64"});
  return any_of(types, word);
}

/// "ld.param.v2.u16" -> "ld.frame.v2.b16": in a frame, only the width matters.
std::string frame_key(std::string_view key) {
  std::string vector;
  std::string type;
  for_each_word(key, [&](std::string_view word) {
    if (word == "v2" || word == "v4" || word == "v8") {
      vector.append(".").append(word);
    } else if (is_operand_type(word)) {
      type.append(".b").append(word == "f16x2" || word == "bf16x2" ? "32"
                               : word == "bf16"                    ? "16"
                                                                   : word.substr(1));
    }
  });
  return std::string(mnemonic_of(key)) + ".frame" + vector + type;
}

std::string replace_word(std::string_view key, std::string_view word, std::string_view by) {
  std::string result;
  for_each_word(key, [&](std::string_view each) {
    const std::string_view now = each == word ? by : each;
    if (now.empty()) return;
    if (!result.empty()) result += '.';
    result += now;
  });
  return result;
}

/// Whether integer literals fit the rows of a key.
bool takes_integers(std::string_view key, Literals literals) {
  if (literals != Literals::of_type) return literals == Literals::any;
  std::string_view type;
  for_each_word(key, [&](std::string_view word) {
    if (is_operand_type(word)) type = word;
  });
  return type != "f32" && type != "f64";
}

}  // namespace

std::string key_of(std::string_view opcode) {
  const bool keeps_cluster = opcode.starts_with("barrier.cluster");
  std::string key;
  key.reserve(opcode.size());
  for_each_word(opcode, [&](std::string_view word) {
    if (!key.empty()) {
      if (any_of(without_effect, word) || word.starts_with("L1::") || word.starts_with("L2::") ||
          (word == "cluster" && !keeps_cluster)) {
        return;
      }
      if (word == "shared::cta") word = "shared";
      if (word == "param::entry" || word == "param::func") word = "param";
      if (word.starts_with("const[")) word = "const";
      key += '.';
    }
    key += word;
  });
  return key;
}

std::vector<Pattern> patterns_of(const FormTable& table, std::string_view key) {
  std::vector<Pattern> patterns;
  for (const Form& form : table.find(key)) {
    Pattern pattern;
    pattern.run = form.run;
    Slot slot;
    for (const char character : form.signature) {
      if (character == '?') {
        slot.optional = true;
      } else if (character == '|') {
        slot.paired = true;
      } else if (character >= '0' && character <= '9') {
        slot.count = static_cast<std::uint8_t>(slot.count * 10 + (character - '0'));
      } else {
        slot.kind = character;
        pattern.slots.at(pattern.size++) = slot;
        slot = {};
      }
    }
    patterns.push_back(pattern);
  }
  return patterns;
}

bool is_not_simulated(std::string_view opcode) noexcept {
  constexpr auto mnemonics = std::to_array<std::string_view>({"wgmma",      "tcgen05",
                                                              "tensormap",  "tex",
                                                              "tld4",       "txq",
                                                              "suld",       "sust",
                                                              "sured",      "suq",
                                                              "mma",        "istypep",
                                                              "multimem",   "clusterlaunchcontrol",
                                                              "wmma",       "ldmatrix",
                                                              "stmatrix",   "pmevent",
                                                              "movmatrix",  "griddepcontrol",
                                                              "setmaxnreg", "vadd",
                                                              "vsub",       "vabsdiff",
                                                              "vmin",       "vmax",
                                                              "vshl",       "vshr",
                                                              "vmad",       "vset",
                                                              "vadd2",      "vsub2",
                                                              "vavrg2",     "vabsdiff2",
                                                              "vmin2",      "vmax2",
                                                              "vset2",      "vadd4",
                                                              "vsub4",      "vavrg4",
                                                              "vabsdiff4",  "vmin4",
                                                              "vmax4",      "vset4"});
  constexpr auto words = std::to_array<std::string_view>(
      {"tensor", "tensormap", "mmio", "multimem", "unified", "texmode_unified"});
  bool found = false;
  for_each_word(opcode, [&](std::string_view word) { found = found || any_of(words, word); });
  return found || any_of(mnemonics, mnemonic_of(opcode));
}

const Opcode& Opcodes::add(std::string_view raw) {
  Opcode opcode;
  opcode.key = key_of(raw);
  if (table_.find(opcode.key).empty() && table_.knows(mnemonic_of(opcode.key))) {
    opcode.key = table_.in_written_order(opcode.key);
  }
  const std::string_view key = opcode.key;
  opcode.known = !table_.find(key).empty();
  if (raw.size() != key.size() && key_of(name_of_instruction(raw)) != name_of_instruction(key)) {
    // The name contains a modifier.
    opcode.known = false;
    return opcodes_.emplace(raw, std::move(opcode)).first->second;
  }
  opcode.cache_hint = has_word(raw, "L2::cache_hint");
  if (opcode.known) opcode.traits = table_.find(key).front().traits;
  for_each_word(key, [&, seen = false](std::string_view word) mutable {
    if (seen || !is_operand_type(word)) return;
    seen = true;
    opcode.is_signed = word.front() == 's';
  });
  opcode.patterns = patterns_of(table_, key);

  if (has_word(key, "param")) add_forms_for_parameters(opcode);
  opcode.takes_integers = takes_integers(key, opcode.traits.literals);
  return opcodes_.emplace(raw, std::move(opcode)).first->second;
}

/// What an access of a parameter does is said by the forms for frames; what a conversion of its
/// address does, by those for local memory.
void Opcodes::add_forms_for_parameters(Opcode& opcode) const {
  const std::string_view key = opcode.key;
  const std::string in_frame = frame_key(key);
  const std::string in_local = replace_word(key, "param", "local");
  std::string elsewhere = replace_word(key, "param", "");
  std::span<const Form> forms = table_.find(in_frame);
  if (forms.empty()) {
    forms = table_.find(in_local);
    if (forms.empty() || forms.front().traits.role != Role::convert_space) return;
    elsewhere = key.ends_with("32") ? "mov.b32" : "mov.b64";
  }
  if (!opcode.known) opcode.traits = forms.front().traits;
  opcode.known = true;
  opcode.in_frame = patterns_of(table_, in_frame);
  opcode.elsewhere = patterns_of(table_, elsewhere);
  opcode.in_local = patterns_of(table_, in_local);
}

}  // namespace cudacore::simulator

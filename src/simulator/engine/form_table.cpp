// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/form_table.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "simulator/engine/modifier_order.hpp"

namespace cudacore::simulator {

struct FormTable::Index {
  /// Allows looking up a string_view in a table of strings.
  struct KeyHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const noexcept {
      return std::hash<std::string_view>{}(key);
    }
  };
  std::unordered_map<std::string, std::vector<Form>, KeyHash, std::equal_to<>> forms;
  std::set<std::string, std::less<>> mnemonics;
  /// Keys with their modifiers in canonical order: built on first use, which few programs need.
  std::unordered_map<std::string, std::string_view> orders;
  std::once_flag orders_made;
};

FormTable::FormTable() : index_(std::make_unique<Index>()) {}
FormTable::~FormTable() = default;

FormTable::Family::Family(FormTable& table, const Traits& traits) : table_(table) {
  table_.family_ = traits;
}
FormTable::Family::~Family() { table_.family_ = Traits{}; }

void FormTable::add(std::initializer_list<const char*> key, const char* signature, Handler run) {
  add(key, signature, run, family_);
}

void FormTable::add(std::initializer_list<const char*> parts, const char* signature, Handler run,
                    const Traits& traits) {
  std::string key;
  for (const char* part : parts) key += part;
  std::vector<Form>& forms = index_->forms[key];
  for (const Form& form : forms) {
    if (form.signature == signature) {
      throw std::logic_error("the form " + key + " " + signature + " is there twice");
    }
    if (form.traits != traits) throw std::logic_error("the forms of " + key + " differ in traits");
  }
  index_->mnemonics.insert(key.substr(0, key.find('.')));
  forms.push_back(Form{key, signature, run, traits});
}

std::span<const Form> FormTable::find(std::string_view key) const noexcept {
  const auto found = index_->forms.find(key);
  if (found == index_->forms.end()) return {};
  return found->second;
}

std::string_view FormTable::in_written_order(std::string_view key) const {
  std::call_once(index_->orders_made, [this] {
    for (const auto& [each, forms] : index_->forms) {
      index_->orders.try_emplace(in_one_order(each), each);
    }
  });
  const auto found = index_->orders.find(in_one_order(key));
  return found != index_->orders.end() ? found->second : key;
}

bool FormTable::knows(std::string_view mnemonic) const noexcept {
  return index_->mnemonics.find(mnemonic) != index_->mnemonics.end();
}

std::vector<const Form*> FormTable::all() const {
  std::vector<const Form*> all;
  for (const auto& [key, forms] : index_->forms) {
    for (const Form& form : forms) all.push_back(&form);
  }
  std::sort(all.begin(), all.end(), [](const Form* a, const Form* b) {
    return a->key != b->key ? a->key < b->key : a->signature < b->signature;
  });
  return all;
}

}  // namespace cudacore::simulator

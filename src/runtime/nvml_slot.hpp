// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/nvml.hpp"
#include "runtime/nvml_structures.hpp"

namespace cudacore::system {

/// What stands for a parameter of a function of NVML's during a call: it is made from the
/// arguments, gives what is passed, and adds the answer to the results.
template <typename Parameter>
struct NvmlSlot;

template <typename Number>
requires std::integral<Number>
struct NvmlSlot<Number> {
  explicit NvmlSlot(NvmlInputs& inputs) : value(inputs.next<Number>()) {}
  Number passed() { return value; }
  void add_to(std::vector<NvmlValue>& /*answers*/) {}

  Number value;
};

template <typename Handle>
struct NvmlHandleSlot {
  explicit NvmlHandleSlot(NvmlInputs& inputs) : value(inputs.next_handle<Handle>()) {}
  Handle passed() { return value; }
  void add_to(std::vector<NvmlValue>& /*answers*/) {}

  Handle value;
};
template <>
struct NvmlSlot<driver::NvmlDevice> : NvmlHandleSlot<driver::NvmlDevice> {
  using NvmlHandleSlot::NvmlHandleSlot;
};
template <>
struct NvmlSlot<driver::NvmlEventSet> : NvmlHandleSlot<driver::NvmlEventSet> {
  using NvmlHandleSlot::NvmlHandleSlot;
};

template <>
struct NvmlSlot<const char*> {
  explicit NvmlSlot(NvmlInputs& inputs) : text(inputs.next_text()) {}
  [[nodiscard]] const char* passed() const { return text.c_str(); }
  void add_to(std::vector<NvmlValue>& /*answers*/) const {}

  std::string text;
};

template <>
struct NvmlSlot<char*> {
  explicit NvmlSlot(NvmlInputs& /*inputs*/) {}
  char* passed() { return text.data(); }
  void add_to(std::vector<NvmlValue>& answers) const { answers.push_back(value_of(text)); }

  static constexpr std::size_t size = 1024;
  std::array<char, size> text{};
};

/// A parameter that says how large what NVML writes may be.
template <typename Size, std::size_t most>
struct NvmlSizeSlot {
  explicit NvmlSizeSlot(NvmlInputs& /*inputs*/) {}
  Size passed() { return Size{static_cast<unsigned>(most)}; }
  void add_to(std::vector<NvmlValue>& /*answers*/) {}
};
template <>
struct NvmlSlot<driver::NvmlLength> : NvmlSizeSlot<driver::NvmlLength, NvmlSlot<char*>::size> {
  using NvmlSizeSlot::NvmlSizeSlot;
};
template <>
struct NvmlSlot<driver::NvmlWords> : NvmlSizeSlot<driver::NvmlWords, driver::nvml_most_words> {
  using NvmlSizeSlot::NvmlSizeSlot;
};

/// How many elements of the list that follows are in use, which takes this off the answers.
template <>
struct NvmlSlot<driver::NvmlCount*> {
  explicit NvmlSlot(NvmlInputs& /*inputs*/) {}
  driver::NvmlCount* passed() { return &count; }
  void add_to(std::vector<NvmlValue>& answers) const {
    answers.push_back({static_cast<std::uint64_t>(count)});
  }

  driver::NvmlCount count{static_cast<unsigned>(driver::nvml_most_items)};
};

/// Its structure points to an array, which receives the events.
template <>
struct NvmlSlot<driver::NvmlSystemWait*> {
  explicit NvmlSlot(NvmlInputs& inputs) {
    request.set = inputs.next_handle<driver::NvmlSystemEventSet>();
    request.timeout_ms = inputs.next<unsigned>();
    request.capacity = inputs.next<unsigned>();
    events.resize(request.capacity);
  }
  driver::NvmlSystemWait* passed() {
    request.events = events.data();
    return &request;
  }
  void add_to(std::vector<NvmlValue>& answers) {
    const auto count = std::min<std::size_t>(request.count, events.size());
    answers.push_back(list_of_items(std::span<const driver::NvmlSystemEvent>(events).first(count)));
  }

  driver::NvmlSystemWait request;
  std::vector<driver::NvmlSystemEvent> events;
};

template <typename Answer>
struct NvmlSlot<Answer*> {
  explicit NvmlSlot(NvmlInputs& inputs) { read(value, inputs); }
  Answer* passed() { return &value; }
  void add_to(std::vector<NvmlValue>& answers) { add(value, answers); }

  Answer value{};
};

}  // namespace cudacore::system

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "driver/nvml_types.hpp"
#include "runtime/nvml.hpp"

// What NVML's structures say, and what callers say in them.

namespace cudacore::system {

/// The arguments of a call, which are taken one by one.
class NvmlInputs {
 public:
  NvmlInputs(std::string_view function, std::span<const NvmlValue> values)
      : function_(function), left_(values) {}

  template <std::integral Number>
  [[nodiscard]] Number next() {
    const NvmlValue& value = take();
    if (const auto* number = std::get_if<std::uint64_t>(&value.of)) {
      if (std::in_range<Number>(*number)) return static_cast<Number>(*number);
    } else if (const auto* negative = std::get_if<std::int64_t>(&value.of)) {
      if (std::in_range<Number>(*negative)) return static_cast<Number>(*negative);
    }
    refuse("a number that fits its parameter");
  }
  template <typename Handle>
  [[nodiscard]] Handle next_handle() {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a handle that NVML gave
    return reinterpret_cast<Handle>(next<std::uintptr_t>());
  }
  [[nodiscard]] std::string next_text() {
    const auto* text = std::get_if<std::string>(&take().of);
    if (text == nullptr) refuse("a text");
    return *text;
  }
  /// @throw std::invalid_argument if arguments are left.
  void end() const {
    if (!left_.empty()) refuse("fewer arguments");
  }

 private:
  const NvmlValue& take() {
    if (left_.empty()) refuse("more arguments");
    const NvmlValue& first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  [[noreturn]] void refuse(const char* wanted) const {
    throw std::invalid_argument(std::string(function_) + " takes " + wanted);
  }

  std::string_view function_;
  std::span<const NvmlValue> left_;
};

template <std::integral Number>
[[nodiscard]] NvmlValue value_of(Number number) {
  if constexpr (std::signed_integral<Number>) {
    return {static_cast<std::int64_t>(number)};
  } else {
    return {static_cast<std::uint64_t>(number)};
  }
}
template <typename Handle>
[[nodiscard]] NvmlValue value_of(Handle* handle) {
  return {static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle))};
}
template <std::size_t size>
[[nodiscard]] NvmlValue value_of(const std::array<char, size>& text) {
  return {std::string(text.begin(), std::find(text.begin(), text.end(), '\0'))};
}
template <typename... Fields>
[[nodiscard]] NvmlValue list_of(const Fields&... fields) {
  return {std::vector<NvmlValue>{value_of(fields)...}};
}
[[nodiscard]] NvmlValue value_of(const driver::NvmlProcess& process);
[[nodiscard]] NvmlValue value_of(const driver::NvmlUtilizationDomain& domain);
[[nodiscard]] NvmlValue value_of(const driver::NvmlThermalSensor& sensor);
[[nodiscard]] NvmlValue value_of(const driver::NvmlSystemEvent& event);
template <typename Items>
[[nodiscard]] NvmlValue list_of_items(const Items& items) {
  std::vector<NvmlValue> values;
  values.reserve(std::size(items));
  for (const auto& item : items) values.push_back(value_of(item));
  return {std::move(values)};
}

[[nodiscard]] inline NvmlValue value_of(const driver::NvmlMemory& memory) {
  return list_of(memory.free, memory.total, memory.used, memory.reserved);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlBar1Memory& memory) {
  return list_of(memory.free, memory.total, memory.used);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlUtilization& rates) {
  return list_of(rates.gpu, rates.memory);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlPciInfo& info) {
  return list_of(info.domain, info.bus, info.device, info.device_id, info.subsystem_id,
                 info.base_class, info.sub_class, info.bus_id);
}
inline NvmlValue value_of(const driver::NvmlProcess& process) {
  return list_of(process.pid, process.used_memory, process.gpu_instance, process.compute_instance);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlAttributes& all) {
  return list_of(all.multiprocessors, all.copy_engines, all.decoders, all.encoders,
                 all.jpeg_engines, all.ofa_engines, all.gpu_slices, all.compute_slices,
                 all.memory_mib);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlRepairStatus& status) {
  return list_of(status.channel, status.tpc);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlCooler& cooler) {
  return list_of(cooler.signal, cooler.target);
}
inline NvmlValue value_of(const driver::NvmlUtilizationDomain& domain) {
  return list_of(domain.is_present, domain.percentage, domain.increase_threshold,
                 domain.decrease_threshold);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlDynamicStates& states) {
  return list_of_items(states.domains);
}
inline NvmlValue value_of(const driver::NvmlThermalSensor& sensor) {
  return list_of(sensor.controller, sensor.default_least, sensor.default_most, sensor.current,
                 sensor.target);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlThermalSettings& settings) {
  const std::size_t count = std::min<std::size_t>(settings.count, settings.sensors.size());
  return list_of_items(std::span(settings.sensors).first(count));
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlClockOffset& clock) {
  return list_of(clock.offset, clock.most, clock.least);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlEventData& event) {
  return list_of(event.device, event.type, event.data, event.gpu_instance, event.compute_instance);
}
inline NvmlValue value_of(const driver::NvmlSystemEvent& event) {
  return list_of(event.type, event.gpu);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlBits& bits) {
  return list_of_items(bits.items);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlPerformanceStates& states) {
  return list_of_items(states.items);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlC2cMode& mode) {
  return value_of(mode.is_enabled);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlAddressingMode& mode) {
  return value_of(mode.value);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlFanSpeed& fan) {
  return value_of(fan.speed);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlMargin& margin) {
  return value_of(margin.celsius);
}
[[nodiscard]] inline NvmlValue value_of(const driver::NvmlDriverBranch& info) {
  return value_of(info.branch);
}
[[nodiscard]] NvmlValue value_of(const driver::NvmlFieldValue& field);

/// Adds an answer to the results.
template <typename Answer>
void add(const Answer& answer, std::vector<NvmlValue>& answers) {
  answers.push_back(value_of(answer));
}
template <typename Items>
void add_items(const Items& items, std::vector<NvmlValue>& answers) {
  const auto count =
      std::min<std::size_t>(std::get<std::uint64_t>(answers.back().of), items.size());
  answers.back() = list_of_items(std::span(items).first(count));
}
inline void add(const driver::NvmlDevices& devices, std::vector<NvmlValue>& answers) {
  add_items(devices.items, answers);
}
inline void add(const driver::NvmlProcesses& processes, std::vector<NvmlValue>& answers) {
  add_items(processes.items, answers);
}
inline void add(const driver::NvmlSystemEventSetRequest& request, std::vector<NvmlValue>& answers) {
  answers.push_back(value_of(request.set));
}
inline void add(const driver::NvmlSystemRegistration& /*request*/,
                std::vector<NvmlValue>& /*answers*/) {}

/// Takes what a caller says in a structure; in most, that is nothing.
template <typename Structure>
void read(Structure& /*structure*/, NvmlInputs& /*inputs*/) {}
inline void read(driver::NvmlFanSpeed& fan, NvmlInputs& inputs) {
  fan.fan = inputs.next<unsigned>();
}
inline void read(driver::NvmlClockOffset& clock, NvmlInputs& inputs) {
  clock.type = inputs.next<int>();
  clock.state = inputs.next<int>();
}
inline void read(driver::NvmlFieldValue& field, NvmlInputs& inputs) {
  field.field = inputs.next<unsigned>();
  field.scope = inputs.next<unsigned>();
}
inline void read(driver::NvmlSystemEventSetRequest& request, NvmlInputs& inputs) {
  request.set = inputs.next_handle<driver::NvmlSystemEventSet>();
}
inline void read(driver::NvmlSystemRegistration& request, NvmlInputs& inputs) {
  request.set = inputs.next_handle<driver::NvmlSystemEventSet>();
  request.types = inputs.next<unsigned long long>();
}

}  // namespace cudacore::system

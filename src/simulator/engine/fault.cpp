// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/fault.hpp"

#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include <cxxabi.h>

#include "simulator/engine/grid.hpp"
#include "simulator/engine/warp_run.hpp"

namespace cudacore::simulator {
namespace {

std::string triple(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
}

}  // namespace

std::string demangle(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  // Short C names are also encodings of types: "i" doesn't mean int here.
  return status == 0 && name.starts_with("_Z") ? text.get() : name;
}

std::string describe_block(const Block& block) {
  return "block " + triple(block.index.x, block.index.y, block.index.z);
}

std::string describe_place(const Function& function, const Instruction& instruction) {
  const auto index = static_cast<std::size_t>(&instruction - function.code.data());
  std::string text = index < function.opcodes.size() ? std::string(function.opcodes[index])
                                                     : std::string("an instruction");
  if (instruction.where >= function.places.size()) return text;
  const Place& place = function.places[instruction.where];
  text += " at PTX line " + std::to_string(place.ptx_line);
  const auto name = [&function](std::uint32_t file, std::uint32_t line) {
    const bool is_known =
        line != 0 && function.image != nullptr && file < function.image->files().size();
    return is_known ? function.image->files()[file] + ":" + std::to_string(line) : std::string();
  };
  if (const std::string source = name(place.file, place.line); !source.empty()) {
    const std::string call = name(place.call_file, place.call_line);
    text += " (" + source + (call.empty() || call == source ? "" : ", inlined at " + call) + ")";
  }
  if (!function.is_entry) text += " of " + demangle(function.name);
  return text;
}

void Warp::fault(const Instruction& in, FaultKind kind, unsigned lane,
                 std::string_view detail) noexcept {
  slice = 0;
  reschedule(*this);
  Fault fault{kind, {}};
  try {
    fault.message = "kernel '" + demangle(block->grid->request().entry->name) + "', " +
                    describe_block(*block) + ", thread " +
                    triple(tid[0][lane], tid[1][lane], tid[2][lane]) + ": " +
                    describe_place(*frame->function, in) + " ";
    fault.message += detail;
  } catch (const std::bad_alloc&) {
    fault.message.clear();
  }
  block->grid->fail(std::move(fault));
}

}  // namespace cudacore::simulator

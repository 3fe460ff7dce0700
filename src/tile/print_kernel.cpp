// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "tile/printer.hpp"

namespace cudacore::tile {
namespace {

// The source of several kernels may be compiled as one; what they share stands in it once.
std::string begin_once(const std::string& name) {
  return "#ifndef TILE_HAS_" + name + "\n#define TILE_HAS_" + name + "\n";
}

// All of a macro's text has the line on which its name stands, as that of a function would not.
std::string macro(const std::string& name, const std::string& lambda) {
  std::string text = "#define " + name + " ";
  for (const char letter : lambda) text += letter == '\n' ? " \\\n" : std::string(1, letter);
  return text + '\n';
}

std::string digest(std::string_view text) {
  std::uint64_t sum = 0xCBF29CE484222325;  // FNV-1a
  for (const char letter : text) sum = (sum ^ static_cast<unsigned char>(letter)) * 0x100000001B3;
  return std::to_string(sum);
}

}  // namespace

std::string Printer::kernel() {
  std::string head;
  parameters(head);
  region(kernel_.body);
  static_cast<void>(out());
  std::string text;
  for (const DeviceSource& source : kernel_.sources)
    text += begin_once("source" + digest(source.code)) + "#line " + std::to_string(source.line) +
            ' ' + quoted_path(source.file) + '\n' + source.code + "\n#endif\n";
  if (!kernel_.sources.empty())
    text += "#line " + std::to_string(std::count(text.begin(), text.end(), '\n') + 2) + ' ' +
            quoted_path(kernel_.name + ".cu") + '\n';
  for (const std::string& header : headers_) text += "#include <cudacore/tile/" + header + ">\n";
  text += "\nusing namespace cudacore_tile;\n\n";
  for (const auto& [name, lambda] : lambdas_) text += macro(name, lambda);
  text += head;
  if (shared_bytes_ > 0)
    text += "  extern __shared__ __align__(128) unsigned char shared_memory[];\n";
  text += "  u32 tid = threadIdx.x;\n  (void)tid;\n";
  return text + writer_.text() + "}\n";
}

void Printer::parameters(std::string& text) {
  // Only where it leaves a thread fewer registers than it may have: otherwise it changes nothing
  // but makes the compiler spill some.
  const std::int64_t wanted = kernel_.hint("occupancy", 0);
  const std::int64_t occupancy = wanted * 32 * target_.warps * 256 > 65536 ? wanted : 0;
  text += "extern \"C\" __global__ void ";
  text += "__launch_bounds__(" + std::to_string(32 * target_.warps) +
          (occupancy > 0 ? ", " + std::to_string(occupancy) : "") + ") " + kernel_.name + "(";
  bool first = true;
  for (const Value* const parameter : kernel_.parameters) {
    text += first ? "" : ", ";
    first = false;
    const std::string type(tile::name(parameter->type.element));
    text += type + (parameter->type.pointer ? "* " : " ") + name(*parameter);
  }
  text += ") {\n";
}

}  // namespace cudacore::tile

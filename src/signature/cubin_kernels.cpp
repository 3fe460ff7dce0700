// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cudacore/signature.hpp"
#include "signature/elf_file.hpp"

namespace cudacore {
namespace {

constexpr std::string_view info_prefix = ".nv.info.";
constexpr std::uint8_t stt_func = 2;
constexpr std::uint8_t sto_cuda_entry = 0x10;
/// CUDA's limit for the size of a kernel's parameters, in bytes.
constexpr std::size_t max_parameter_bytes = 32764;

/// Formats of a record in .nv.info: only the last one is followed by a payload.
constexpr std::uint8_t format_sized = 4;
constexpr std::uint8_t attribute_kparam_info = 0x17;
/// Like the above, with room for sizes that don't fit into 14 bits: used if the parameters exceed 4
/// KB.
constexpr std::uint8_t attribute_kparam_info_v2 = 0x45;
constexpr std::size_t kparam_info_size = 12;

struct Record {
  std::uint16_t ordinal;
  Param param;
};

[[noreturn]] void throw_damaged(std::string_view kernel, const std::string& what) {
  throw std::invalid_argument("damaged cubin: the kernel '" + std::string(kernel) + "' " + what);
}

/// A name as every compiler makes them: in ASCII, without blanks.
std::string checked_name(std::string_view name) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  bool is_right = true;
  for (const char c : name) {
    if (c > ' ' && c < '\x7f') {
      text += c;
      continue;
    }
    is_right = false;
    const auto byte = static_cast<unsigned char>(c);
    text += {'\\', 'x', digits[byte >> 4U], digits[byte & 0xfU]};
  }
  if (!is_right) throw_damaged(text, "has characters in its name that are not ASCII");
  return text;
}

/// PTX's notation for bytes of an unknown type.
std::string spell_bytes(std::size_t size) {
  const bool word = size == 1 || size == 2 || size == 4 || size == 8;
  return word ? ".b" + std::to_string(size * 8) : ".b8[" + std::to_string(size) + "]";
}

Record record_of(const signature::ByteReader& payload, bool wide) {
  const auto packed = payload.at<std::uint32_t>(8);
  // The space is set if the PTX said `.ptr`.
  const std::uint32_t space = wide ? (packed >> 24U) & 0xfU : (packed >> 8U) & 0xfU;
  Record record{payload.at<std::uint16_t>(4), {}};
  Param& param = record.param;
  param.size = wide ? packed & 0xffffU : packed >> 18U;
  param.offset = payload.at<std::uint16_t>(6);
  param.type = spell_bytes(param.size);
  if (space != 0 && param.size == 8) {
    param.kind = ParamKind::pointer;
    param.align = 8;
    param.type += " .ptr";
  }
  return record;
}

Signature signature_of(std::string_view kernel, const signature::ByteReader& info) {
  std::vector<Record> records;
  for (std::size_t i = 0; i < info.size();) {
    const auto format = info.at<std::uint8_t>(i);
    const auto attribute = info.at<std::uint8_t>(i + 1);
    const auto value = info.at<std::uint16_t>(i + 2);
    i += 4;
    if (format != format_sized) continue;
    const signature::ByteReader payload = info.part(i, value);
    i += value;
    const bool wide = attribute == attribute_kparam_info_v2;
    if (!wide && attribute != attribute_kparam_info) continue;
    if (payload.size() < kparam_info_size) {
      throw_damaged(kernel, "has a parameter record of " + std::to_string(value) + " bytes");
    }
    records.push_back(record_of(payload, wide));
  }
  std::sort(records.begin(), records.end(),
            [](const Record& a, const Record& b) { return a.ordinal < b.ordinal; });
  Signature signature;
  signature.kernel = kernel;
  std::size_t end = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    Param& param = records[i].param;
    if (records[i].ordinal != i) {
      throw_damaged(kernel, "has no record of its parameter " + std::to_string(i));
    }
    if (param.size == 0 || param.offset < end || param.offset + param.size > max_parameter_bytes) {
      throw_damaged(kernel, "has a parameter " + std::to_string(i) + " of " +
                                std::to_string(param.size) + " bytes at offset " +
                                std::to_string(param.offset));
    }
    end = param.offset + param.size;
    signature.params.push_back(std::move(param));
  }
  return signature;
}

}  // namespace

std::vector<KernelEntry> kernels_in_cubin(std::span<const std::byte> cubin) {
  const signature::ElfFile file(cubin);
  std::map<std::string_view, const signature::ByteReader*> infos;
  for (const signature::ElfFile::Section& section : file.sections()) {
    if (section.name.starts_with(info_prefix)) {
      infos.emplace(section.name.substr(info_prefix.size()), &section.bytes);
    }
  }
  std::vector<KernelEntry> kernels;
  std::set<std::string_view> seen;
  for (const signature::ElfFile::Symbol& symbol : file.symbols()) {
    if (symbol.type != stt_func || (symbol.other & sto_cuda_entry) == 0 || symbol.section == 0 ||
        !seen.insert(symbol.name).second) {
      continue;
    }
    std::string name = checked_name(symbol.name);
    const auto info = infos.find(symbol.name);
    if (info == infos.end()) {
      throw_damaged(name, "has no .nv.info section, which tells its parameters");
    }
    kernels.push_back(describe_kernel(std::move(name), signature_of(symbol.name, *info->second)));
  }
  return kernels;
}

}  // namespace cudacore

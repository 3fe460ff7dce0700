// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cudacore/signature.hpp"

namespace cudacore {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
void append(Bytes& bytes, T value) {
  const auto raw = std::as_bytes(std::span(&value, 1));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

void append(Bytes& bytes, std::string_view text) {
  const auto raw = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
  bytes.push_back(std::byte{0});
}

struct Field {
  std::uint16_t offset;
  std::uint32_t size;
  bool pointer = false;
};

/// The .nv.info section of a kernel, as ptxas writes it: parameters from last to first, among other
/// records.
Bytes info_section(const std::vector<Field>& fields, bool wide) {
  Bytes bytes;
  append(bytes, std::uint32_t{0x00080a04});  // EIATTR_PARAM_CBANK
  append(bytes, std::uint64_t{0x0018021000000001});
  append(bytes, std::uint32_t{0x00181903});  // EIATTR_CBANK_PARAM_SIZE
  for (std::size_t i = fields.size(); i-- > 0;) {
    append(bytes, std::uint32_t{wide ? 0x000c4504U : 0x000c1704U});
    append(bytes, std::uint32_t{0});
    append(bytes, static_cast<std::uint16_t>(i));
    append(bytes, fields[i].offset);
    const std::uint32_t space = fields[i].pointer ? 5 : 0;
    append(bytes,
           wide ? fields[i].size | space << 24U : fields[i].size << 18U | 0x1f000U | space << 8U);
  }
  append(bytes, std::uint32_t{0x00ff1b03});
  return bytes;
}

struct TestKernel {
  std::string symbol;
  Bytes info;
};

/// A cubin with everything that describes parameters, and no code.
Bytes make_cubin(const std::vector<TestKernel>& kernels) {
  struct Section {
    std::string name;
    std::uint32_t type;
    Bytes bytes;
    std::uint32_t link;
    std::uint64_t entry_size;
  };
  std::vector<Section> sections = {{"", 0, {}, 0, 0},
                                   {".shstrtab", 3, {}, 0, 0},
                                   {".strtab", 3, Bytes(1), 0, 0},
                                   {".symtab", 2, Bytes(24), 2, 24}};
  const auto add_symbol = [&](const std::string& name, std::uint8_t type, std::uint8_t other) {
    append(sections[3].bytes, static_cast<std::uint32_t>(sections[2].bytes.size()));
    append(sections[3].bytes, type);
    append(sections[3].bytes, other);
    append(sections[3].bytes, std::uint16_t{4});
    append(sections[3].bytes, std::uint64_t{0});
    append(sections[3].bytes, std::uint64_t{128});
    append(sections[2].bytes, std::string_view(name));
  };
  add_symbol("a_device_function", 0x12, 0);
  add_symbol("a_variable", 0x11, 0x10);
  for (const TestKernel& kernel : kernels) {
    add_symbol(kernel.symbol, 0x12, 0x10);
    sections.push_back({".nv.info." + kernel.symbol, 0x70000000, kernel.info, 3, 0});
  }
  std::vector<std::uint32_t> names;
  for (const Section& section : sections) {
    names.push_back(static_cast<std::uint32_t>(sections[1].bytes.size()));
    append(sections[1].bytes, std::string_view(section.name));
  }
  Bytes body;
  Bytes headers;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Section& section = sections[i];
    append(headers, names[i]);
    append(headers, section.type);
    append(headers, std::uint64_t{0});
    append(headers, std::uint64_t{0});
    append(headers, std::uint64_t{64 + body.size()});
    append(headers, std::uint64_t{section.bytes.size()});
    append(headers, section.link);
    append(headers, std::uint32_t{0});
    append(headers, std::uint64_t{1});
    append(headers, section.entry_size);
    body.insert(body.end(), section.bytes.begin(), section.bytes.end());
  }
  Bytes file;
  append(file, std::uint64_t{0x41010102464c457f});
  append(file, std::uint64_t{8});
  append(file, std::uint16_t{2});
  append(file, std::uint16_t{190});
  append(file, std::uint32_t{1});
  append(file, std::uint64_t{0});
  append(file, std::uint64_t{0});
  append(file, std::uint64_t{64 + body.size()});
  append(file, std::uint32_t{0x6005a02});
  for (const std::size_t value : {std::size_t{64}, std::size_t{56}, std::size_t{0}, std::size_t{64},
                                  sections.size(), std::size_t{1}}) {
    append(file, static_cast<std::uint16_t>(value));
  }
  file.insert(file.end(), body.begin(), body.end());
  file.insert(file.end(), headers.begin(), headers.end());
  return file;
}

Bytes sample() {
  return make_cubin(
      {{"_Z4axpyIfEvT_PKS0_PS0_m", info_section({{0, 4}, {8, 8}, {16, 8}, {24, 8}}, false)},
       {"cfun", info_section({{0, 8, true}, {8, 8}, {16, 16}, {32, 1}}, false)},
       {"huge", info_section({{0, 8, true}, {8, 20000}, {20008, 8}}, true)},
       {"_Z4nonev", info_section({}, false)}});
}

TEST(CubinKernelsTest, ReadsParameters) {
  const auto kernels = kernels_in_cubin(sample());
  ASSERT_EQ(kernels.size(), 4U);
  EXPECT_EQ(kernels[0].name, "axpy<float>");
  EXPECT_EQ(kernels[0].signature.str(), "axpy<float>(float, float const*, float*, unsigned long)");
  const Signature& cfun = kernels[1].signature;
  EXPECT_EQ(cfun.str(), "cfun(.b64 .ptr, .b64, .b8[16], .b8)");
  EXPECT_EQ(cfun.params[0].kind, ParamKind::pointer);
  EXPECT_EQ(cfun.params[1].kind, ParamKind::opaque);
  EXPECT_EQ(cfun.params[2].offset, 16U);
  EXPECT_EQ(cfun.params[3].size, 1U);
  const Signature& huge = kernels[2].signature;
  EXPECT_EQ(huge.params[0].kind, ParamKind::pointer);
  EXPECT_EQ(huge.params[1].size, 20000U);
  EXPECT_EQ(huge.params[2].offset, 20008U);
  EXPECT_EQ(kernels[3].signature.str(), "none()");
}

TEST(CubinKernelsTest, PtxTellsWhatBytesAre) {
  const auto cubin = kernels_in_cubin(sample());
  const auto ptx = kernels_in_ptx(
      ".entry cfun(.param .u64 .ptr .align 1 x, .param .f64 d, .param .align 16 .b8 z[16],"
      ".param .u8 k) { }");
  const Signature merged = merge(cubin[1].signature, ptx[0].signature);
  EXPECT_EQ(merged.str(), "cfun(.u64 .ptr x, .f64 d, .b8[16] z, .u8 k)");
  EXPECT_EQ(merged.params[1].kind, ParamKind::float64);
  EXPECT_EQ(merged.params[3].offset, 32U);
}

TEST(CubinKernelsTest, RefusesImpossibleParameters) {
  for (const std::vector<Field>& fields :
       {std::vector<Field>{{0, 8}, {4, 8}}, std::vector<Field>{{0, 0}},
        std::vector<Field>{{32760, 8}}}) {
    EXPECT_THROW((void)kernels_in_cubin(make_cubin({{"k", info_section(fields, true)}})),
                 std::invalid_argument);
  }
}

TEST(CubinKernelsTest, SaysWhatItIsNot) {
  const auto message = [](std::span<const std::byte> bytes) -> std::string {
    try {
      (void)kernels_in_cubin(bytes);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(message({}).find("the 0 bytes are not a cubin"), std::string::npos);
  Bytes ptx;
  append(ptx, std::string_view("// PTX"));
  EXPECT_NE(message(ptx).find("look like PTX"), std::string::npos);
  Bytes fatbin;
  append(fatbin, std::uint32_t{0xba55ed50});
  EXPECT_NE(message(fatbin).find("fatbin"), std::string::npos);
  Bytes host = sample();
  host[18] = std::byte{62};
  EXPECT_NE(message(host).find("machine 62"), std::string::npos);
}

void read_whatever(std::span<const std::byte> bytes) {
  try {
    (void)kernels_in_cubin(bytes);
  } catch (const std::invalid_argument&) {
  }
}

TEST(CubinKernelsTest, SurvivesTruncation) {
  const Bytes cubin = sample();
  for (std::size_t size = 0; size < cubin.size(); ++size) {
    // A copy of exactly that size lets a sanitizer detect a read past the end.
    const Bytes cut(cubin.begin(), cubin.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW((void)kernels_in_cubin(cut), std::invalid_argument);
  }
}

TEST(CubinKernelsTest, SurvivesFlippedBytes) {
  const Bytes cubin = sample();
  for (std::size_t i = 0; i < cubin.size(); ++i) {
    for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
      Bytes changed = cubin;
      changed[i] = static_cast<std::byte>(value);
      read_whatever(changed);
    }
  }
  std::mt19937 random(12345);
  for (int round = 0; round < 2000; ++round) {
    Bytes changed = cubin;
    for (int flips = 0; flips < 4; ++flips) {
      changed[random() % changed.size()] = static_cast<std::byte>(random() & 0xffU);
    }
    read_whatever(changed);
  }
}

}  // namespace
}  // namespace cudacore

// SPDX-License-Identifier: Apache-2.0
//
// Loads PTX into images, and expects what it is refused for.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/engine/image.hpp"
#include "simulator/ops/isa.hpp"

namespace cudacore::simulator::testing {

/// Memory for variables, with addresses that the host can't read.
class Memory {
 public:
  [[nodiscard]] Image::Allocate giver() {
    return [this](std::size_t size, std::size_t align, bool read_only, bool managed) {
      return give(size, align, read_only, managed);
    };
  }
  [[nodiscard]] std::byte* host_of(std::uint64_t address) {
    for (const Allocation& piece : pieces) {
      if (piece.address == address) return piece.host;
    }
    return nullptr;
  }
  template <class T>
  [[nodiscard]] T read(std::uint64_t address, std::size_t offset = 0) {
    T value{};
    std::memcpy(&value, host_of(address) + offset, sizeof value);
    return value;
  }

  std::vector<Allocation> pieces;
  std::size_t left = std::size_t{1} << 30;

 private:
  std::optional<Allocation> give(std::size_t size, std::size_t align, bool read_only, bool) {
    if (size > left) return std::nullopt;
    left -= size;
    next_ = (next_ + align - 1) / align * align;
    Allocation piece;
    piece.address = next_;
    piece.size = size;
    piece.read_only = read_only;
    piece.host = bytes_.emplace_back(std::make_unique<std::byte[]>(size)).get();
    next_ += size;
    pieces.push_back(piece);
    return piece;
  }

  std::uint64_t next_ = 0x7000'0000'0000;
  std::vector<std::unique_ptr<std::byte[]>> bytes_;
};

inline std::string module_of(std::string_view body, std::string_view target = "sm_90",
                             std::string_view version = "8.3") {
  std::string text = ".version ";
  text.append(version).append("\n.target ").append(target).append("\n.address_size 64\n");
  return text.append(body);
}

class ImageTest : public ::testing::Test {
 protected:
  using Kind = LoadError::Kind;

  std::shared_ptr<const Image> load_all(const std::vector<std::string>& texts) {
    std::vector<std::string_view> views(texts.begin(), texts.end());
    return Image::load(views, best_forms(), target, memory.giver());
  }
  std::shared_ptr<const Image> load(std::string_view body) { return load_all({module_of(body)}); }
  void expect_error_of_all(const std::vector<std::string>& texts, Kind kind,
                           std::string_view part) {
    try {
      load_all(texts);
      ADD_FAILURE() << "loaded; expected: " << part;
    } catch (const LoadError& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    }
  }
  void expect_error(std::string_view body, Kind kind, std::string_view part) {
    expect_error_of_all({module_of(body)}, kind, part);
  }

  Memory memory;
  Target target;
};

}  // namespace cudacore::simulator::testing

// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/code/fat_binary.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <dlfcn.h>

#include "simulator/api/entry.hpp"

namespace cudacore::simulator {
namespace {

/// What nvcc registers; it points to the fat binary.
struct Descriptor {
  static constexpr std::uint32_t its_magic = 0x466243b1;
  std::uint32_t magic;
  std::uint32_t version;
  const void* code;
  const void* linked;
};

struct Header {
  static constexpr std::uint32_t its_magic = 0xba55ed50;
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_size;
  std::uint64_t size;  ///< of the entries that follow
};

/// Precedes each piece of code.
struct Entry {
  enum Kind : std::uint16_t { ptx = 1, elf = 2, together = 0x100 };
  enum Flag : std::uint64_t { lz4 = 0x2000, zstd = 0x8000 };

  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_size;
  std::uint64_t size;             ///< of what follows the header
  std::uint32_t compressed_size;  ///< without the padding; 0 if it is not compressed
  std::uint32_t options;
  std::uint32_t language;  ///< PTX's version
  std::uint32_t architecture;
  std::uint32_t name;
  std::uint32_t name_size;
  std::uint64_t flags;
  std::uint64_t reserved;
  std::uint64_t whole_size;  ///< after decompression
};

/// An entry and the bytes of its code.
struct Piece {
  Entry entry{};
  std::string_view bytes;

  [[nodiscard]] std::string architecture() const {
    return "sm_" + std::to_string(entry.architecture);
  }
};

template <class T>
T read(const void* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

CUresult damaged(std::string_view how) {
  return refuse(CUDA_ERROR_INVALID_IMAGE, "the fat binary is damaged: " + std::string(how));
}

/// Lists the pieces of code; returns nothing if sizes contradict each other.
std::optional<std::vector<Piece>> list_pieces(const char* code, std::size_t size) {
  if (size < sizeof(Header)) return std::nullopt;
  const auto header = read<Header>(code);
  if (header.header_size < sizeof(Header) || header.header_size > size ||
      header.size > size - header.header_size) {
    return std::nullopt;
  }
  std::string_view rest(code + header.header_size, header.size);
  std::vector<Piece> pieces;
  while (!rest.empty()) {
    if (rest.size() < sizeof(Entry)) return std::nullopt;
    Piece piece;
    piece.entry = read<Entry>(rest.data());
    const Entry& entry = piece.entry;
    if (entry.header_size < sizeof(Entry) || entry.header_size > rest.size() ||
        entry.size > rest.size() - entry.header_size || entry.compressed_size > entry.size) {
      return std::nullopt;
    }
    piece.bytes = rest.substr(entry.header_size, entry.size);
    rest.remove_prefix(entry.header_size + entry.size);
    pieces.push_back(piece);
  }
  return pieces;
}

/// A function of a system library; null if the library is missing.
template <class Function>
Function* find_in(const char* library, const char* name) noexcept {
  void* opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return opened != nullptr ? reinterpret_cast<Function*>(dlsym(opened, name)) : nullptr;
}

CUresult missing(const std::string& library, const std::string& format) {
  return refuse(CUDA_ERROR_NOT_SUPPORTED,
                "the PTX of the fat binary is compressed with " + format + ", and " + library +
                    " can't be loaded: install it, or make the fat binary with "
                    "--compress-mode=none");
}

CUresult decompress(const Piece& piece, std::string& to) {
  constexpr std::uint64_t most = 1ULL << 31U;  // LZ4's limit, and more than any program needs
  const std::string_view from = piece.bytes.substr(0, piece.entry.compressed_size);
  const std::uint64_t size = piece.entry.whole_size;
  const bool is_zstd = (piece.entry.flags & Entry::zstd) != 0;
  // One byte extends an LZ4 match by up to 255 bytes; four bytes are a zstd block of at most 128
  // KiB.
  const std::uint64_t most_of_byte = is_zstd ? (128U << 10U) / 4 : 255;
  if (size >= most || from.size() >= most || size > most_of_byte * from.size()) {
    return damaged("a size can't be");
  }
  // Memory that is never written takes no space, whatever the size says.
  const std::unique_ptr<char[]> whole(new char[size]);  // NOLINT: std::string would write it
  bool is_whole = false;
  if (is_zstd) {
    using Function = std::size_t(void*, std::size_t, const void*, std::size_t);
    static const auto zstd = find_in<Function>("libzstd.so.1", "ZSTD_decompress");
    if (zstd == nullptr) return missing("libzstd.so.1", "zstd");
    is_whole = zstd(whole.get(), size, from.data(), from.size()) == size;
  } else {
    using Function = int(const char*, char*, int, int);
    static const auto lz4 = find_in<Function>("liblz4.so.1", "LZ4_decompress_safe");
    if (lz4 == nullptr) return missing("liblz4.so.1", "LZ4");
    is_whole = lz4(from.data(), whole.get(), static_cast<int>(from.size()),
                   static_cast<int>(size)) == static_cast<int>(size);
  }
  if (!is_whole) return damaged("what is compressed can't be read");
  to.assign(whole.get(), size);
  return CUDA_SUCCESS;
}

CUresult read_text(const Piece& piece, std::string& to) {
  if ((piece.entry.flags & (Entry::lz4 | Entry::zstd)) == 0) {
    to = piece.bytes;
  } else if (const CUresult result = decompress(piece, to); result != CUDA_SUCCESS) {
    return result;
  }
  to.resize(std::min(to.find('\0'), to.size()));
  return CUDA_SUCCESS;
}

/// "SASS for sm_80, PTX for sm_100".
std::string list_of(const std::vector<Piece>& pieces) {
  std::string list;
  for (const Piece& piece : pieces) {
    const char* kind = piece.entry.kind == Entry::ptx   ? "PTX"
                       : piece.entry.kind == Entry::elf ? "SASS"
                                                        : "other code";
    if (!list.empty()) list += ", ";
    list += std::string(kind) + " for " + piece.architecture();
  }
  return list.empty() ? "nothing" : list;
}

}  // namespace

bool is_fat_binary(const void* code, std::size_t size) noexcept {
  const std::string_view start(
      static_cast<const char*>(code),
      strnlen(static_cast<const char*>(code), std::min(size, sizeof(std::uint32_t))));
  if (start.size() < sizeof(std::uint32_t)) return false;
  const auto magic = read<std::uint32_t>(start.data());
  return magic == Header::its_magic || magic == Descriptor::its_magic;
}

CUresult take_ptx(const void* code, std::size_t size, const Target& target, std::string& ptx) {
  if (read<std::uint32_t>(code) == Descriptor::its_magic) {
    if (size < sizeof(Descriptor)) return damaged("its descriptor is cut off");
    code = read<Descriptor>(code).code;
    size = SIZE_MAX;
    if (code == nullptr || read<std::uint32_t>(code) != Header::its_magic) {
      return damaged("its descriptor points to none");
    }
  }
  auto pieces = list_pieces(static_cast<const char*>(code), size);
  if (!pieces) return damaged("it is cut off, or its sizes contradict each other");
  std::ranges::stable_sort(*pieces, std::ranges::greater{},
                           [](const Piece& piece) { return piece.entry.architecture; });
  for (const Piece& piece : *pieces) {
    if (piece.entry.kind == Entry::together) {
      return refuse(CUDA_ERROR_NOT_SUPPORTED,
                    "fat binaries made with --concat, which compresses all code together, can't "
                    "be read");
    }
    if (piece.entry.kind != Entry::ptx) continue;
    const Architecture plain{static_cast<int>(piece.entry.architecture)};
    if (!plain.runs_on(target)) continue;
    if (const CUresult result = read_text(piece, ptx); result != CUDA_SUCCESS) return result;
    // Only the text says whether it is for exactly this architecture, as sm_90a is.
    const auto exact = find_architecture(ptx);
    if (!exact || exact->runs_on(target)) return CUDA_SUCCESS;
  }
  ptx.clear();
  return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                "the fat binary has no PTX for sm_" +
                    std::to_string(target.major * 10 + target.minor) + ", but " + list_of(*pieces) +
                    "; machine code (SASS) is not simulated: make it with PTX, as "
                    "nvcc does with -gencode arch=compute_XX,code=compute_XX");
}

}  // namespace cudacore::simulator

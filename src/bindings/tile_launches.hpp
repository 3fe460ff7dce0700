// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bindings/collector.hpp"
#include "bindings/tile_arguments.hpp"

namespace cudacore::bindings {

/// What a name of a module stood for when a kernel was compiled. Whoever has it holds the objects.
struct WatchedName {
  PyObject* names;
  PyObject* name;
  PyObject* thing;
};

/// What launches of one kind have in common.
struct KnownTileLaunch : driver::NotCopied {
  LaunchConfig config;  ///< its grid is that of each launch
  Kernel kernel;
  /// What the key has the addresses of, but for classes, and what the watched names have.
  std::vector<py::object> held;
  std::vector<WatchedName> watched;
  /// Weak references to these classes, which drop the launch when a class ends, before another can
  /// get its address. The collector sees them held from outside, so that it calls them always.
  std::vector<py::object> watchers;

  KnownTileLaunch(LaunchConfig shape, Kernel compiled)
      : config(std::move(shape)), kernel(std::move(compiled)) {}
};

/// The launches of a tile kernel that need nothing more to be compiled or found out, by the keys of
/// their arguments.
struct TileLaunches {
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const noexcept {
      return std::hash<std::string_view>()(key);
    }
  };
  /// By the bytes of keys. Running launches have shares.
  using ByKey = std::unordered_map<std::string, std::shared_ptr<const KnownTileLaunch>, Hash,
                                   std::equal_to<>>;

  struct Box : driver::NotCopied {
    std::vector<TileParameter> parameters;
    ByKey known;
  };
  std::shared_ptr<Box> box;  ///< watchers know it weakly
};

template <>
struct CollectorTraits<TileLaunches> {
  static constexpr bool any = true;
  static bool may_keep(const TileLaunches& /*launches*/) noexcept { return true; }
  static int visit(const TileLaunches& launches, visitproc visit, void* arg);
};

}  // namespace cudacore::bindings

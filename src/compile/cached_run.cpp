// SPDX-License-Identifier: Apache-2.0
#include "compile/cached_run.hpp"

#include <utility>

#include "compile/program_cache.hpp"

namespace cudacore::compile {

CachedRun::CachedRun(const CompilerKind& kind, bool wanted, AddInputs add_inputs)
    : kind_(kind), add_inputs_(std::move(add_inputs)), is_wanted_(wanted && cache_is_enabled()) {}

CachedRun::Key CachedRun::key(const CompilerInfo& compiler) const {
  KeyHash hash;
  hash.content.add(kind_.name);
  hash.content.add(compiler.identity);
  Key key;
  if (compiler.identity.empty()) {
    key.trouble = std::string(kind_.name) + " has no build ID";
  } else {
    key.trouble = add_inputs_(hash, compiler);
  }
  key.digest = hash.content.finish();
  key.files = std::move(hash.files);
  return key;
}

std::optional<CacheEntry> CachedRun::find(const CompilerInfo& compiler) {
  compiler_ = compiler;
  key_ = key(compiler);
  return key_.trouble.empty() ? find_in_cache(key_.digest) : std::nullopt;
}

std::optional<CacheEntry> CachedRun::find() {
  if (!is_wanted_) return std::nullopt;
  const std::optional<CompilerInfo> installed = kind_.find();
  std::optional<CacheEntry> entry;
  if (installed) {
    entry = find(*installed);
  } else {
    for (const CompilerInfo& known : remembered_compilers(kind_)) {
      if (!entry) entry = find(known);
    }
  }
  if (!entry) {
    // The system loader may have chosen another one.
    const CompilerInfo loaded = kind_.load();
    const bool was_expected =
        installed && loaded.identity == installed->identity && loaded.path == installed->path;
    if (!was_expected) entry = find(loaded);
    compiler_ = loaded;
  }
  if (entry) {
    count_hit();
  } else if (key_.trouble.empty()) {
    files_before_ = key_.files.state();
    count_miss();
  } else {
    count_uncacheable(key_.trouble);
    is_wanted_ = false;
  }
  return entry;
}

void CachedRun::store(const CacheEntry& entry) {
  if (!is_wanted_) return;
  const Key now = key(compiler_);
  if (!now.trouble.empty() || now.digest != key_.digest || now.files.state() != files_before_) {
    count_uncacheable(now.trouble.empty() ? "an input changed during the compilation"
                                          : now.trouble);
    return;
  }
  if (!store_in_cache(key_.digest, entry)) return;
  count_stored();
  remember_compiler(kind_, compiler_);
}

}  // namespace cudacore::compile

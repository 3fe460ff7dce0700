// SPDX-License-Identifier: Apache-2.0
#include "compile/cached_run.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cudacore/cache.hpp"

namespace cudacore::compile {
namespace {

CompilerInfo no_compiler() { return {"identity", 1, 0, "/no/compiler", {}}; }

TEST(CachedRun, DoesNotKeepWhatChangedMeanwhile) {
  std::string folder = std::filesystem::temp_directory_path() / "cudacore-run-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const cache::Info before = cache::info();
  cache::set_folder(folder);
  cache::enable(true);

  const CompilerKind kind{"none", [] { return std::optional(no_compiler()); }, &no_compiler};
  // What the second look at the inputs says, after the compilation.
  const auto reason_after = [&](const std::string& trouble) {
    std::uint64_t asked = 0;
    CachedRun run(kind, true, [&](KeyHash& hash, const CompilerInfo& /*compiler*/) {
      hash.content.add_number(asked);
      return asked++ == 0 ? std::string() : trouble;
    });
    EXPECT_FALSE(run.find());
    run.store({});
    return cache::info().uncacheable_reason;
  };
  EXPECT_EQ(reason_after(""), "an input changed during the compilation");
  EXPECT_EQ(reason_after("a header is gone"), "a header is gone");
  EXPECT_EQ(cache::usage().entries, 0U);

  cache::enable(before.is_enabled);
  cache::set_folder(before.folder);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cudacore::compile

// SPDX-License-Identifier: Apache-2.0
#include "tile/parse.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cudacore::tile {
namespace {

std::string in_kernel(const std::string& body) {
  return "tile 1\nfile 0 \"/a/b.py\"\nkernel \"k\" {\n" + body + "\n}\n";
}

std::string message(const std::string& text) {
  try {
    static_cast<void>(parse(text));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(TileParse, ReadsParametersAndHints) {
  const auto kernel = parse(in_kernel("param %0 : ptr<bf16> {align = 16}\nhint warps = 8\nreturn"));
  ASSERT_EQ(kernel->parameters.size(), 1U);
  EXPECT_TRUE(kernel->parameters[0]->type.pointer);
  EXPECT_EQ(kernel->parameters[0]->divisor, 16);
  EXPECT_EQ(kernel->hint("warps", 0), 8);
  EXPECT_EQ(kernel->name, "k");
}

TEST(TileParse, ReadsSources) {
  const auto kernel =
      parse("tile 1\nsource \"a.py\" 12 \"int x;\\nint y;\"\nkernel \"k\" {\nreturn\n}\n");
  ASSERT_EQ(kernel->sources.size(), 1U);
  EXPECT_EQ(kernel->sources[0].file, "a.py");
  EXPECT_EQ(kernel->sources[0].line, 12);
  EXPECT_EQ(kernel->sources[0].code, "int x;\nint y;");
  for (const char* const wrong :
       {"source 3 1 \"x\"", "source \"a\" 1 2", "source \"a\" \"x\"", "source \"a\" 1 \"x\" \"y\""})
    EXPECT_NE(message("tile 1\n" + std::string(wrong) + "\nkernel \"k\" {\nreturn\n}\n"), "")
        << wrong;
}

TEST(TileParse, ReadsOperationsWithGroupsAttributesAndPlaces) {
  const auto kernel =
      parse(in_kernel("param %p : ptr<f32>\nparam %n : i32\n"
                      "%x = load %p, origin(0, %n), shape(%n, 7), strides(%n, 1) {pad = nan} : "
                      "f32[2,4] @0:12:8\nreturn"));
  const Operation& load = *kernel->body.operations.at(0);
  EXPECT_EQ(load.name, "load");
  EXPECT_EQ(load.group("origin").size(), 2U);
  EXPECT_EQ(load.group("origin")[0].value, nullptr);
  EXPECT_EQ(load.group("shape")[1].literal, 7);
  EXPECT_EQ(load.word("pad"), "nan");
  EXPECT_EQ(load.location.line, 12);
  EXPECT_EQ(to_string(load.result()->type), "f32[2,4]");
}

TEST(TileParse, ReadsRegions) {
  const auto kernel =
      parse(in_kernel("%z = const {value = -1.5e0} : f32\n"
                      "%r = for %i = (0, 10, 2) iter(%a = %z) : f32 { @0:3:1\n"
                      "  %c = lt %a, %z : i1\n"
                      "  if %c {\n    break %a\n  } else {\n    yield\n  }\n"
                      "  continue %a\n}\nreturn"));
  const Operation& loop = *kernel->body.operations.at(1);
  EXPECT_EQ(loop.region(0).arguments.size(), 2U);
  EXPECT_EQ(loop.location.line, 3);
  EXPECT_EQ(loop.region(0).operations.at(1)->regions.size(), 2U);
}

TEST(TileParse, TakesStringsApart) {
  const auto kernel = parse(in_kernel("print {format = \"a\\n\\\"\\u00e9\"}\nreturn"));
  EXPECT_EQ(kernel->body.operations.at(0)->word("format"), "a\n\"\xC3\xA9");
}

TEST(TileParse, SaysWhatIsWrong) {
  EXPECT_EQ(message("kernel \"k\" {\n}"),
            "line 1 of the tile text: the text does not begin with 'tile 1'");
  EXPECT_EQ(message("tile 2"), "line 1 of the tile text: the version of the text is not 1");
  EXPECT_NE(message(in_kernel("%a = add %b, %b : i32")).find("%b is not defined here"),
            std::string::npos);
  EXPECT_NE(message(in_kernel("%a = iota : i32[12]")).find("12 is not a power of two"),
            std::string::npos);
  EXPECT_NE(message(in_kernel("%a = iota : i32[4]\n%a = iota : i32[4]")).find("defined twice"),
            std::string::npos);
  EXPECT_NE(message(in_kernel("%a = iota : x32[4]")).find("'x32' is no type of elements"),
            std::string::npos);
  EXPECT_NE(message(in_kernel("%a = iota : i32[4] @1:2:3")).find("not listed"), std::string::npos);
  EXPECT_NE(message("tile 1\nkernel \"k\" {\nreturn").find("does not end"), std::string::npos);
  EXPECT_NE(message(in_kernel("print {format = \"a}")).find("a string without its end"),
            std::string::npos);
  EXPECT_NE(message(in_kernel("%a, %b = iota : i32[4]")).find("2 results and 1 types"),
            std::string::npos);
}

TEST(TileParse, ForgetsWhatRegionsDefine) {
  const std::string text = in_kernel(
      "%c = const {value = true} : i1\nif %c {\n  %x = const {value = 1} : i32\n}\n"
      "%y = neg %x : i32\nreturn");
  EXPECT_NE(message(text).find("%x is not defined here"), std::string::npos);
}

}  // namespace
}  // namespace cudacore::tile

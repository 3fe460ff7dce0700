// SPDX-License-Identifier: Apache-2.0
#include "compile/header_mentions.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compile/array_view.hpp"
#include "compile/flag_effects.hpp"
#include "compile/macro_definitions.hpp"
#include "compile/provided_headers.hpp"

namespace cudacore::compile {
namespace {

std::string joined(std::string_view text) { return joined_lines(text).value_or(std::string(text)); }

HeaderMentions mentions_in(std::string_view text) { return header_mentions(joined(text)); }

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (const HeaderMention& header : mentions_in(text).headers) {
    names.push_back(header.is_quoted ? '"' + header.name + '"' : '<' + header.name + '>');
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(HeaderMentions, FindsEverySpellingThatNvrtcTakes) {
  for (const std::string_view text : {
           "#include \"a.h\"",
           "  #  include\t\"a.h\" // why",
           "%:include \"a.h\"",
           "#incl\\\nude \"a.h\"",
           "#incl\\\r\nude \"a.h\"",
           "#\\\ninclude \"a\\\n.h\"",
           "/* */ # /* a\n b */ include /* x */ \"a.h\"",
           "#include_next \"a.h\"",
           "#if __has_include(\"a.h\")\n#endif",
           "#if __has_include ( \"a.h\" ) && X\n#endif",
           "#if __has_inc\\\nlude(\"a.h\")\n#endif",
           "#if __ha\\\ns_include(\"a.h\")\n#endif",
           "int x = __has_include(\"a.h\");",
           "#define HAS __has_include_next(\"a.h\")",
           "/*\n#include \"a.h\"\n*/",
           "%\\\n:include \"a.h\"",
           "/* *\\\n/ #include \"a.h\"",
           "/\\\n* c */ #include \"a.h\"",
           "#include /\\\n* c */ \"a.h\"",
           "#include /* c *\\\n/ \"a.h\"",
           "/* */\t/* */ \f#include \"a.h\"",
           "const char* text = R\"(\n#include \"a.h\"\n)\";",
           "#if 0\n#include \"a.h\"\n#endif",
           "\xef\xbb\xbf#include \"a.h\"",
       }) {
    EXPECT_EQ(names_in(text), Names{"\"a.h\""}) << text;
    EXPECT_EQ(mentions_in(text).trouble, "") << text;
  }
  EXPECT_EQ(names_in("#include<a.h>\n#include <b/c.h>\n"), (Names{"<a.h>", "<b/c.h>"}));
  // Behind a NUL byte, the text goes on.
  EXPECT_EQ(names_in(std::string_view("//\0\n#include <a.h>", 18)), Names{"<a.h>"});
}

TEST(HeaderMentions, FindsNothingElse) {
  for (const std::string_view text :
       {"// #include <a.h>", "/* #include <a.h>", " * #include <a.h>", "x #include <a.h>", "", "#",
        "#include", "#include <", "#include \"a.h", "#includes <a.h>", "#define X #include",
        "int include = 1;", "#if defined(__has_include)\n#endif", "#ifdef __has_include\n#endif",
        "// __has_include(X) asks", "/*\n * what __has_include is for\n */",
        "int x; \\\n#include \"a.h\"", "my__has_include(<a.h>)",
        "#if __has_attribute(x)\n#endif"}) {
    EXPECT_EQ(names_in(text), Names{}) << text;
    EXPECT_EQ(mentions_in(text).trouble, "") << text;
  }
}

TEST(HeaderMentions, FindsMacros) {
  EXPECT_EQ(mentions_in("#include HEADER\n#include OTHER(x)\n").macros,
            (std::vector<std::string>{"HEADER", "OTHER"}));
  EXPECT_TRUE(mentions_in("#include <a.h>").macros.empty());
}

TEST(HeaderMentions, SaysWhatCannotBeKnown) {
  for (const std::string_view text : {
           "const char* when = __DATE__;",
           "__TIME__",
           "__TIMESTAMP__",
           "?\?=include \"a.h\"",
           "#incl?\?/\nude \"a.h\"",
           "#define HAS __has_include\n",
           "#define HAS(x) __has_include(<x>)\n",
           "#define HAS(x) __has_include(#x)\n",
           "#define HAS(x) __has_include(x.h)\n",
           "#define HAS(x, y) __has_include(x)\n",
           "#define HAS(x) OTHER(__has_include, x)\n",
           "#define HAS __has_include(<a.h> x)\n",
           "#if __has_include(HEADER)\n#endif",
           "#include \\u00c9",
           "#include a\\u00c9",
           "#include \xc3\x89",
           "#if 1 \\\n* __has_include(HEADER)\n#endif",
           "#if \\\n/**/ __has_include(HEADER)\n#endif",
           "/* a */ #if __has_include(HEADER)\n#endif",
           "\"/*\"\n* __has_include(HEADER)",
           "R\"(/*)\"\n* __has_include(HEADER)",
           "BAR\"(x\";\nF()\"/*\";\n* __has_include(HEADER)",
           "#if ifdef __has_include(HEADER)\n#endif",
           "#define C(a, b) a##b\nC(__TI, ME__)",
           "#define C(a, b, c) a##b##c\n#if C(__has, _, include)(\"a.h\")",
           "C(__, DATE__)",
           "int z() { return'a/*'; }\n* __has_include(HEADER)",
           "R\"x()x\" /* __has_include(HEADER) */",
           "/* one\n two /* three\n four */ #define HAS(x) __has_include(<x.h>)",
           "#if undefined(__has_include(HEADER))\n#endif",
           "#define CAT(a, b) a##b\n#if CAT(__h, as_include)(\"a.h\")\n#endif",
           "#define CAT(a, b) a##b\n#if CAT(__ha, s_include)(\"a.h\")\n#endif",
           "#if APPLY(__has_include)(\"a.h\")\n#endif",
           "#define CAT(a, b) a##b\n#if CAT(__has_, include)(\"a.h\")\n#endif",
           "#define CAT(a, b) a##b\n#if CAT(_, _has_include)(\"a.h\")\n#endif",
       }) {
    EXPECT_NE(mentions_in(text).trouble, "") << text;
  }
}

TEST(HeaderMentions, FindsMacrosThatStandForQueries) {
  for (const std::string_view text : {
           "#define HAS(x) __has_include(x)\n",
           "  # define HAS( x ) (defined(A) && __has_include( x ))\n",
           "%:define HAS(x) \\\n  __has_include_next(x)",
           "#define HAS(...) __has_include(__VA_ARGS__)",
           "/* */ #define /* a\n */ HAS(x) __has_include(x)",
       }) {
    EXPECT_EQ(mentions_in(text).queries, Names{"HAS"}) << text;
    EXPECT_EQ(mentions_in(text).trouble, "") << text;
    EXPECT_EQ(names_in(text), Names{}) << text;
  }
  for (const std::string_view text :
       {"#define __has_include(x) 0\n", "#undef __has_include", "#define NO(...) 0"}) {
    EXPECT_EQ(mentions_in(text).queries, Names{}) << text;
    EXPECT_EQ(mentions_in(text).trouble, "") << text;
  }
  const HeaderMentions constant = mentions_in("#define HAS(y) __has_include(<x/z.h>)\n");
  ASSERT_EQ(constant.headers.size(), 1U);
  EXPECT_TRUE(constant.headers[0].is_expanded);
  for (const std::string_view text :
       {"#if __has_include(<x/z.h>)\n", "# elif (defined(A) && (1 || __has_include(<x/z.h>)))"}) {
    EXPECT_FALSE(mentions_in(text).headers[0].is_expanded) << text;
  }
  // What a macro is given as its argument is expanded.
  for (const std::string_view text :
       {"#if ID(__has_include(<x/z.h>))\n", "int x = __has_include(<a>);"}) {
    EXPECT_TRUE(mentions_in(text).headers[0].is_expanded) << text;
  }
}

TEST(HeaderMentions, FollowsMacrosThatStandForQueries) {
  const HeaderMentions uses =
      mentions_by("MY_HAS", joined("#define MY_HAS(x) __has_include(x)\n#undef MY_HAS\n"
                                   "#if MY_HAS(<a.h>) || MY_HAS( \"b.h\" )\n#endif\n"
                                   "#if MY_\\\nHAS(<c.h>)\n#endif\n// MY_HAS() tells\n"
                                   "#ifdef MY_HAS\n#define MINE(x) MY_HAS(x)\n#endif\n"
                                   "MY_HASH(x); NOT_MY_HAS(x); MY;"));
  EXPECT_EQ(uses.trouble, "");
  ASSERT_EQ(uses.headers.size(), 3U);
  EXPECT_EQ(uses.headers[0].name, "a.h");
  EXPECT_TRUE(uses.headers[0].is_expanded);
  EXPECT_TRUE(uses.headers[1].is_quoted);
  EXPECT_EQ(uses.headers[2].name, "c.h");
  EXPECT_EQ(uses.queries, Names{"MINE"});
  for (const std::string_view text :
       {"#if MY_HAS(HEADER)", "#define OTHER MY_HAS", "#if CAT(MY_, HAS)(<a.h>)",
        "#if CAT(M, Y_HAS)(<a.h>)", "#if MY_HAS(<a.h> HEADER)", "#define A(x) MY_HAS(<x>)"}) {
    EXPECT_NE(mentions_by("MY_HAS", text).trouble, "") << text;
  }
}

TEST(HeaderNames, HaveWordsThatMayBeMacros) {
  EXPECT_EQ(replaceable_words("a/b-c.h"), (Names{"a", "b", "c", "h"}));
  EXPECT_EQ(replaceable_words(""), Names{});
  for (const std::string_view name :
       {"a b", "a//b", "linux/a.h", "__NAME__.h", "a*", "x(y)", "v/CUDART_VERSION/a.h",
        "__cplusplus.h", "cudaArrayDefault/a.h", "a$b.h"}) {
    EXPECT_FALSE(replaceable_words(name)) << name;
  }
}

TEST(MacroDefinitions, HaveBodies) {
  const Names names = {"a", "c"};
  const std::string text = joined(
      "#define a  b/c // why\n#define a(x) x\n#define b d\n"
      "# define c x\\\ny\n#define a");
  const auto found = definitions_in(names, text);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].body(), "b/c");
  EXPECT_TRUE(found[1].has_parameters());
  EXPECT_EQ(found[2].name, "c");
  EXPECT_EQ(found[2].body(), "xy");
  EXPECT_EQ(found[3].body(), "");
}

TEST(JoinedLines, AreJoinedOnce) {
  EXPECT_FALSE(joined_lines("a \\ b"));
  EXPECT_EQ(joined("a\\\nb\\\r\nc"), "abc");
  // The second backslash was not a continuation before the first was taken away.
  EXPECT_EQ(joined("// a\\\\\n\n#include"), "// a\\\n#include");
}

TEST(MacroDefinitions, StandForAHeaderOrAMacro) {
  const auto found = definitions_in(Names{"H"},
                                    "#define H \"a.h\" // x\n#define H <b.h>\n# define H K\n"
                                    "#define H(x) #x\n#define H a b\n#define HH \"c.h\"\n");
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(meaning_of(found[0]).header->name, "a.h");
  EXPECT_TRUE(meaning_of(found[0]).header->is_quoted);
  EXPECT_EQ(meaning_of(found[1]).header->name, "b.h");
  EXPECT_EQ(meaning_of(found[2]).macro, "K");
  for (const std::size_t other : {3U, 4U}) {
    EXPECT_FALSE(meaning_of(found[other]).header);
    EXPECT_EQ(meaning_of(found[other]).macro, "");
  }
}

TEST(ProvidedHeaders, AreAllInTheKey) {
  EXPECT_NE(all_provided().find(array_view_text), std::string::npos);
  EXPECT_NE(all_provided().find(*provided_header("stdint.h")), std::string::npos);
}

TEST(FlagEffects, ReadsEverySpelling) {
  const std::vector<std::string> flags = {"--include-path=/a",
                                          "-I/b",
                                          "-I",
                                          "/c",
                                          "--include-path",
                                          "/d d",
                                          "-DX=1",
                                          "-D",
                                          "Y",
                                          "--define-macro=Z=\"z.h\"",
                                          "-include=p.h",
                                          "--pre-include",
                                          "q.h",
                                          "-std=c++17",
                                          "--gpu-architecture=sm_90",
                                          "-w",
                                          "-ftz=true",
                                          "-UX",
                                          "-D W=1",
                                          "-D\t$V(x)=x ",
                                          "-Xptxas",
                                          "-v",
                                          "--ptxas-options=-O3",
                                          "-Xptxas=--maxrregcount=32"};
  const FlagEffects effects = effects_of(flags);
  EXPECT_EQ(effects.folders, (std::vector<std::string>{"/a", "/b", "/c", "/d d"}));
  EXPECT_EQ(effects.macros, (std::vector<std::string>{"X=1", "Y", "Z=\"z.h\"", "W=1", "$V(x)=x"}));
  EXPECT_EQ(effects.pre_includes, (std::vector<std::string>{"p.h", "q.h"}));
  EXPECT_EQ(effects.trouble, "");
  EXPECT_FALSE(effects.shows_current_folder);
  EXPECT_TRUE(effects_of(std::vector<std::string>{"-lineinfo"}).shows_current_folder);
  EXPECT_TRUE(effects_of(std::vector<std::string>{"--device-debug"}).shows_current_folder);
}

TEST(FlagEffects, KnowsWhatTheyCannotTell) {
  for (const std::string flag : {"--fdevice-time-trace=t.json",
                                 "--time=-",
                                 "--pch",
                                 "--create-pch=a",
                                 "--use-pch=a",
                                 "--pch-dir=a",
                                 "--use-bundled-headers=a",
                                 "--unheard-of",
                                 "file.cu",
                                 "-I a",
                                 "-Ia,b",
                                 "--ptxas-options=--options-file=x",
                                 "-Xptxas=-optf=x",
                                 "-Xptxas=-optf",
                                 "-Xptxas=x",
                                 "-Xptxas=-v -optf=x",
                                 "-Xptxas=-v=/x",
                                 "-Xptxas=---v",
                                 "-Xptxas=",
                                 "-D==x",
                                 "-D1=x",
                                 "-DX =x",
                                 "-D\"X=x\"",
                                 "-DX\\u00c9=x",
                                 "@x",
                                 ""}) {
    EXPECT_NE(effects_of(std::vector{flag}).trouble, "") << flag;
  }
}

}  // namespace
}  // namespace cudacore::compile

// SPDX-License-Identifier: Apache-2.0
#include "tile/verify.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tile/generate.hpp"
#include "tile/parse.hpp"

namespace cudacore::tile {
namespace {

std::string message(const std::string& body) {
  const std::string text =
      "tile 1\nfile 0 \"/a/b.py\"\nkernel \"k\" {\nparam %p : ptr<f32>\nparam %n : i32\n"
      "param %f : f32\n%i = iota : i32[8]\n%x = const {value = 1e0} : f32[8]\n" +
      body + "\nreturn\n}\n";
  try {
    verify(*parse(text));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void expect(const std::string& body, const std::string& part) {
  EXPECT_NE(message(body).find(part), std::string::npos) << body << "\n" << message(body);
}

TEST(TileVerify, RefusesWrongOperations) {
  EXPECT_EQ(message(""), "");
  expect("%y = frob %x : f32[8]", "'frob' is no operation of the text");
  expect("%y = add %x : f32[8]", "'add' has 2 operands, not 1");
  expect("%y = add %x, %i : f32[8]", "an operand of i32[8] where it needs f32[8]");
  expect("%y = add %x, %f : f32[8]", "different shapes");
  expect("%y = and %x, %x : f32[8]", "takes integers");
  expect("%y = exp %i : i32[8]", "takes floats");
  expect("%y = lt %x, %x : f32[8]", "gives an i1");
  expect("%y = exp %x {rm = rz} : f32[8]", "no rounding mode 'rz'");
  expect("%y = reshape %x : f32[4]", "keeps the number of elements");
  expect("%y = permute %x {axes = (1)} : f32[8]", "names each axis once");
  expect("%y = broadcast %x : f32[16]", "cannot grow");
  expect("%y = extract %x, index(4) : f32[2]", "index beyond the tile");
  expect("%y = load %n, origin(0), shape(8), strides(1) : f32[8]", "begins with a pointer");
  expect("%y = load %p, origin(0, 0), shape(8), strides(1) : f32[8]", "1 members of 'origin'");
  expect("%y = load %p, origin(0), shape(8), strides(1) : f16[8]", "elements of another type");
  expect("%y = load %p, origin(0), shape(8), strides(1) {pad = one} : f32[8]", "no such padding");
  expect("%y = const {value = 1.5e0} : i32", "a float as the value of an integer");
  expect("%y = reduce %x {axis = 1} : f32 (%a : f32, %b : f32) {\nyield %a\n}",
         "an axis of the tile's");
  expect("%y = reduce %x {axis = 0} : f32 (%a : f32) {\nyield %a\n}", "two arguments");
  expect("continue", "does not end its region");
  expect("for %k = (0, %n, 0) {\ncontinue\n}", "a step above 0");
  expect("%y = mma %x, %x, %x : f32[8]", "multiplies [M,K] and [K,N]");
}

TEST(TileVerify, NamesThePlace) {
  try {
    verify(*parse(
        "tile 1\nfile 0 \"/a/b.py\"\nkernel \"k\" {\n%x = iota : f32[8] @0:7:3\nreturn\n}\n"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.file, "/a/b.py");
    EXPECT_EQ(error.line, 7);
    EXPECT_EQ(error.column, 3);
  }
}

TEST(TileVerify, RefusesTilesThatDoNotFit) {
  const std::string text =
      "tile 1\nkernel \"k\" {\nparam %p : ptr<f32>\n"
      "%x = load %p, origin(0), shape(1), strides(1) : f32[1048576]\n"
      "store %p, %x, origin(0), shape(1), strides(1)\nreturn\n}\n";
  try {
    static_cast<void>(generate(text, {}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("f32[1048576] does not fit registers"),
              std::string::npos);
  }
}

TEST(TileVerify, RefusesMoreSharedMemoryThanThereIs) {
  const std::string text =
      "tile 1\nkernel \"k\" {\nparam %p : ptr<f32>\n"
      "%x = load %p, origin(0, 0), shape(128, 256), strides(256, 1) : f32[128,256]\n"
      "%y = permute %x {axes = (1, 0)} : f32[256,128]\n"
      "store %p, %y, origin(0, 0), shape(256, 128), strides(128, 1)\nreturn\n}\n";
  Options options;
  options.shared_limit = 65536;
  try {
    static_cast<void>(generate(text, options));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("needs 131072 bytes of shared memory"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace cudacore::tile

// SPDX-License-Identifier: Apache-2.0
//
// printf, assert, malloc and free in kernels.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "execution_test_support.hpp"

namespace cudacore::simulator::testing {
namespace {

std::string bytes_of(const std::string& name, const std::string& text) {
  std::string ptx =
      ".global .align 1 .b8 " + name + "[" + std::to_string(text.size() + 1) + "] = {";
  for (const char letter : text) ptx += std::to_string(static_cast<int>(letter)) + ", ";
  return ptx + "0};\n";
}

/// A kernel with one thread that prints a format; `store` fills [%rd10] to [%rd10+63].
struct Printing {
  Printing(const std::string& format, const std::string& store)
      : kernel(bytes_of("format", format) + bytes_of("word", "word") +
                   ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);",
               R"(.local .align 8 .b8 buffer[64];
    mov.u64 %rd9, buffer; cvta.local.u64 %rd10, %rd9;
    mov.u64 %rd11, format; cvta.global.u64 %rd11, %rd11;
    mov.u64 %rd12, word; cvta.global.u64 %rd12, %rd12;
    )" + store + R"(
    { .param .b64 f; .param .b64 a; .param .b32 r;
      st.param.b64 [f], %rd11; st.param.b64 [a], %rd10;
      call.uni (r), vprintf, (f, a); ld.param.b32 %r7, [r]; }
    st.global.u32 [%rd3], %r7; ret;)") {}

  std::string output() {
    ::testing::internal::CaptureStdout();
    count = static_cast<int>(kernel.results({1, 1, 1}, {1, 1, 1})[0]);
    return ::testing::internal::GetCapturedStdout();
  }

  Kernel kernel;
  int count = -1;
};

void expect_printed(const std::string& format, const std::string& store, std::string_view output,
                    int count) {
  Printing printing(format, store);
  EXPECT_EQ(printing.output(), output);
  EXPECT_EQ(printing.count, count);
}

TEST(DeviceRuntime, PrintsWhatCPrints) {
  expect_printed("%d|%5u|%-6x|%08.3f|%s|%c|%lld|%%\n",
                 "st.local.b32 [buffer], -5; st.local.b32 [buffer+4], 42;"
                 "st.local.b32 [buffer+8], 255; st.local.f64 [buffer+16], 0d400921FB54442D18;"
                 "st.local.b64 [buffer+24], %rd12; st.local.b32 [buffer+32], 90;"
                 "st.local.b64 [buffer+40], -1099511627776;",
                 "-5|   42|ff    |0003.142|word|Z|-1099511627776|%\n", 7);
}

TEST(DeviceRuntime, PrintsGivenWidths) {
  expect_printed("[%*d][%.*s][%-*u]",
                 "st.local.b32 [buffer], 6; st.local.b32 [buffer+4], 7;"
                 "st.local.b32 [buffer+8], 2; st.local.b64 [buffer+16], %rd12;"
                 "st.local.b32 [buffer+24], 4; st.local.b32 [buffer+28], 9;",
                 "[     7][wo][9   ]", 6);
}

TEST(DeviceRuntime, PrintsWhatIsNoConversion) { expect_printed("100%! %y %", "", "100%! %y %", 0); }

TEST(DeviceRuntime, FormatThatCannotBeRead) {
  Printing printing("", "mov.u64 %rd11, 64;");
  expect_fault(printing.kernel.run({1, 1, 1}, {1, 1, 1}), FaultKind::illegal_address);
}

TEST(DeviceRuntime, AssertionsNameThreads) {
  Kernel kernel(bytes_of("what", "n > 1") + bytes_of("file", "a.cu") +
                    bytes_of("name", "void k()") +
                    ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, "
                    ".param .b64 d, .param .b64 e);",
                R"(
    setp.ne.u32 %p1, %r2, 3; @%p1 bra END;
    mov.u64 %rd5, what; cvta.global.u64 %rd5, %rd5;
    mov.u64 %rd6, file; cvta.global.u64 %rd6, %rd6;
    mov.u64 %rd7, name; cvta.global.u64 %rd7, %rd7;
    { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
      st.param.b64 [a], %rd5; st.param.b64 [b], %rd6; st.param.b32 [c], 17;
      st.param.b64 [d], %rd7; st.param.b64 [e], 1;
      call.uni __assertfail, (a, b, c, d, e); }
    END: ret;)");
  ::testing::internal::CaptureStderr();
  const auto fault = kernel.run({1, 1, 1}, {32, 1, 1});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "a.cu:17: void k(): block: [0,0,0], thread: [3,0,0] Assertion `n > 1` failed.\n");
  expect_fault(fault, FaultKind::assertion, {"thread (3,0,0)", "Assertion `n > 1` failed"});
}

constexpr std::string_view heap_functions =
    ".extern .func (.param .b64 r) malloc (.param .b64 n);\n"
    ".extern .func free (.param .b64 p);\n";
constexpr std::string_view allocate = R"(
    cvt.u64.u32 %rd5, %r1;
    { .param .b64 n; .param .b64 r; st.param.b64 [n], %rd5;
      call.uni (r), malloc, (n); ld.param.b64 %rd6, [r]; }
    setp.ne.u64 %p1, %rd6, 0; selp.u32 %r6, 1, 0, %p1;
    @%p1 st.u32 [%rd6], %r2;
    @%p1 ld.u32 %r7, [%rd6];
    @%p1 sub.u32 %r7, %r7, %r2; @%p1 add.u32 %r6, %r6, %r7;
    st.global.u32 [%rd3], %r6;)";
constexpr std::string_view release =
    "{ .param .b64 p; st.param.b64 [p], %rd6; call.uni free, (p); }\n";

TEST(DeviceRuntime, AllocatesAndFrees) {
  Kernel kernel(heap_functions, std::string(allocate) + std::string(release) + "ret;");
  const auto out = kernel.results({2, 1, 1}, {64, 1, 1}, 100);
  for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(out[i], 1u) << i;
  EXPECT_EQ(kernel.heap_used(), 0u);
}

TEST(DeviceRuntime, HeapHasALimit) {
  Kernel kernel(heap_functions, std::string(allocate) + "ret;");
  kernel.request().heap_limit = 1000;
  const auto out = kernel.results({1, 1, 1}, {32, 1, 1}, 100);
  unsigned given = 0;
  for (unsigned i = 0; i < 32; ++i) given += out[i];
  EXPECT_EQ(given, 10u);
}

TEST(DeviceRuntime, FreeOfWhatIsNotOfTheHeap) {
  const std::string twice = std::string(allocate) + std::string(release) + std::string(release);
  const std::string foreign = "mov.u64 %rd6, %rd1;" + std::string(release);
  for (const std::string& body : {twice, foreign}) {
    Kernel kernel(heap_functions, body + "ret;");
    expect_fault(kernel.run({1, 1, 1}, {1, 1, 1}, 64), FaultKind::illegal_address,
                 {"malloc did not give"});
  }
}

}  // namespace
}  // namespace cudacore::simulator::testing

// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/image.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/engine/opcode_key.hpp"
#include "simulator/ops/isa.hpp"

namespace cudacore::simulator {
namespace {

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

std::string module_of(std::string_view body, std::string_view target = "sm_90",
                      std::string_view version = "8.3") {
  std::string text = ".version ";
  text.append(version).append("\n.target ").append(target).append("\n.address_size 64\n");
  return text.append(body);
}

class ImageTest : public testing::Test {
 protected:
  std::shared_ptr<const Image> load_all(const std::vector<std::string>& texts) {
    std::vector<std::string_view> views(texts.begin(), texts.end());
    return Image::load(views, best_forms(), target, memory.giver());
  }
  std::shared_ptr<const Image> load(std::string_view body) { return load_all({module_of(body)}); }
  void expect_error_of_all(const std::vector<std::string>& texts, LoadError::Kind kind,
                           std::string_view part) {
    try {
      load_all(texts);
      ADD_FAILURE() << "loaded; expected: " << part;
    } catch (const LoadError& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    }
  }
  void expect_error(std::string_view body, LoadError::Kind kind, std::string_view part) {
    expect_error_of_all({module_of(body)}, kind, part);
  }

  Memory memory;
  Target target;
};

using Kind = LoadError::Kind;

TEST(OpcodeKey, LeavesOutWhatMakesNoDifference) {
  EXPECT_EQ(key_of("fma.rn.ftz.f32"), "fma.rn.ftz.f32");
  EXPECT_EQ(key_of("ld.global.nc.L1::no_allocate.L2::128B.v4.f32"), "ld.global.v4.f32");
  EXPECT_EQ(key_of("ld.relaxed.gpu.global.u32"), "ld.relaxed.global.u32");
  EXPECT_EQ(key_of("st.weak.shared::cta.u32"), "st.shared.u32");
  EXPECT_EQ(key_of("st.shared::cluster.u32"), "st.shared::cluster.u32");
  EXPECT_EQ(key_of("bra.uni"), "bra");
  EXPECT_EQ(key_of("ld.param::entry.u64"), "ld.param.u64");
  EXPECT_EQ(key_of("ld.const[3].u64"), "ld.const.u64");
  EXPECT_EQ(key_of("barrier.cluster.arrive.release.aligned"),
            "barrier.cluster.arrive.release.aligned");
  EXPECT_EQ(key_of("barrier.cta.sync.aligned"), "barrier.sync.aligned");
  EXPECT_EQ(key_of("atom.acq_rel.cluster.shared::cluster.add.u32"),
            "atom.acq_rel.shared::cluster.add.u32");
  EXPECT_EQ(key_of("cp.async.ca.shared.global.L2::cache_hint"), "cp.async.shared.global");
  EXPECT_EQ(key_of("membar.gl"), "membar.gl");
}

TEST_F(ImageTest, LaysOutParametersOfKernels) {
  const auto image = load(R"(
.visible .entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .u16 d)
.maxntid 64, 2, 1
{ ret; })");
  ASSERT_EQ(image->entries().size(), 1u);
  const Function& k = *image->find_entry("k");
  ASSERT_EQ(k.parameters.size(), 4u);
  EXPECT_EQ(k.parameters[0].offset, 0u);
  EXPECT_EQ(k.parameters[1].offset, 8u);
  EXPECT_EQ(k.parameters[2].offset, 16u);
  EXPECT_EQ(k.parameters[2].size, 20u);
  EXPECT_EQ(k.parameters[3].offset, 36u);
  EXPECT_EQ(k.parameter_bytes, 38u);
  EXPECT_EQ(k.max_threads, 128u);
  EXPECT_EQ(image->find_entry("other"), nullptr);
  EXPECT_EQ(image->ptx_version(), 83u);
}

TEST_F(ImageTest, EndsEachFunctionAndPointsLabelsAtInstructions) {
  const auto image = load(R"(
.visible .entry k(.param .u32 n)
{
  .reg .b32 %r<4>;
  .reg .pred %p<2>;
  ld.param.u32 %r1, [n];
L:
  add.u32 %r1, %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 100;
  @%p1 bra L;
  @!%p1 bra End;
End:
})");
  const Function& k = *image->find_entry("k");
  ASSERT_EQ(k.opcodes.size(), k.code.size());
  EXPECT_EQ(k.opcodes.back(), "ret");
  std::vector<const Instruction*> branches;
  for (std::size_t i = 0; i < k.code.size(); ++i) {
    if (k.opcodes[i] == "bra") branches.push_back(&k.code[i]);
  }
  ASSERT_EQ(branches.size(), 2u);
  // The label comes before the read of %tid.x that the addition needs.
  EXPECT_EQ(k.opcodes[branches[0]->imm], "add.u32");
  EXPECT_EQ(k.opcodes[branches[0]->imm - 1], "ld.param.u32");
  EXPECT_EQ(branches[0]->guard_flip, 0u);
  EXPECT_EQ(branches[1]->imm, k.code.size() - 1);
  EXPECT_EQ(branches[1]->guard_flip, all_lanes);
  EXPECT_EQ(branches[1]->guard, branches[0]->guard);
  EXPECT_EQ(k.places[k.code.front().where].ptx_line, 9u);
}

TEST_F(ImageTest, GivesEqualConstantsOneRow) {
  const auto image = load(R"(
.visible .entry k()
{
  .reg .b32 %r<4>;
  .reg .f32 %f<4>;
  mov.b32 %r1, 7;
  add.u32 %r2, %r1, 7;
  add.f32 %f1, %f1, 1.5;
  add.f32 %f2, %f1, 0f3FC00000;
})");
  const Function& k = *image->find_entry("k");
  EXPECT_EQ(k.code[0].op[1], k.code[1].op[2]);
  EXPECT_EQ(k.code[2].op[2], k.code[3].op[2]);
  ASSERT_GE(k.code[2].op[2], k.constants_begin);
  for (const auto& [row, wanted] :
       {std::pair{k.code[0].op[1], 7u}, std::pair{k.code[2].op[2], 0x3FC00000u}}) {
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      std::uint32_t value = 0;
      std::memcpy(&value, k.constants.data() + (row - k.constants_begin) + lane * sizeof value,
                  sizeof value);
      EXPECT_EQ(value, wanted);
    }
  }
  EXPECT_GE(k.frame_bytes, k.constants_begin + k.constants.size());
  EXPECT_EQ(k.frame_bytes % 64, 0u);
}

TEST_F(ImageTest, SharesRowsOfRegistersWhoseLivesDoNotMeet) {
  const auto image = load(R"(
.visible .entry k()
{
  .reg .b32 %r<9>;
  mov.b32 %r1, 1;
  add.u32 %r2, %r1, %r1;
  add.u32 %r3, %r2, %r2;
  add.u32 %r4, %r3, %r3;
})");
  const Function& k = *image->find_entry("k");
  EXPECT_NE(k.code[1].op[0], k.code[1].op[1]);  // a source that ends here is not the destination
  EXPECT_EQ(k.code[2].op[0], k.code[0].op[0]);
}

TEST_F(ImageTest, KeepsValuesThatALoopCarries) {
  const auto image = load(R"(
.visible .entry k()
{
  .reg .b32 %r<9>;
  .reg .pred %p<2>;
  mov.b32 %r1, 0;
L:
  mov.b32 %r2, 3;
  add.u32 %r1, %r1, %r2;
  setp.lt.u32 %p1, %r1, 10;
  @%p1 mov.b32 %r3, %r1;
  mov.b32 %r4, %r3;
  @%p1 bra L;
})");
  const Function& k = *image->find_entry("k");
  const std::uint32_t r1 = k.code[0].op[0];
  const std::uint32_t r2 = k.code[1].op[0];
  const std::uint32_t r3 = k.code[4].op[0];
  const std::uint32_t r4 = k.code[5].op[0];
  EXPECT_NE(r1, r2);
  EXPECT_NE(r1, r4);
  // Lanes that the guard excludes keep their value from the previous turn.
  EXPECT_NE(r3, r1);
  EXPECT_NE(r3, r2);
  EXPECT_NE(r3, r4);
}

TEST_F(ImageTest, PlacesVariablesWithTheirValues) {
  const auto image = load(R"(
.visible .global .align 4 .u32 counter = 42;
.visible .const .align 8 .u64 table[2] = {generic(counter), f};
.visible .global .attribute(.managed) .align 4 .u32 both;
.func f() { ret; }
.visible .entry k() { ret; })");
  const Global* counter = image->find_global("counter");
  const Global* table = image->find_global("table");
  const Global* both = image->find_global("both");
  ASSERT_TRUE(counter != nullptr && table != nullptr && both != nullptr);
  EXPECT_EQ(memory.read<std::uint32_t>(counter->address), 42u);
  EXPECT_EQ(memory.read<std::uint64_t>(table->address), counter->address);
  EXPECT_TRUE(both->managed);
  EXPECT_EQ(table->size, 16u);
  const Function* f = image->function_at(memory.read<std::uint64_t>(table->address, 8));
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->name, "f");
  EXPECT_EQ(image->function_at(0), nullptr);
  EXPECT_EQ(image->function_at(counter->address), nullptr);
  EXPECT_EQ(image->find_entry("k")->constant_bytes, 16u);
}

TEST_F(ImageTest, NeedsMemoryForVariables) {
  memory.left = 100;
  expect_error(".visible .global .align 4 .b8 big[1000];\n.visible .entry k() { ret; }",
               Kind::out_of_memory, "'big' of 1000 bytes");
}

TEST_F(ImageTest, LinksModules) {
  const auto image = load_all({module_of(R"(
.extern .func (.param .b32 r) twice(.param .b32 a);
.extern .global .align 4 .u32 shared_counter;
.visible .entry k()
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  mov.u64 %rd1, shared_counter;
  { .param .b32 p; .param .b32 q;
    st.param.b32 [p], 21;
    call.uni (q), twice, (p);
    ld.param.b32 %r1, [q]; }
})"),
                               module_of(R"(
.visible .global .align 4 .u32 shared_counter = 5;
.visible .func (.param .b32 r) twice(.param .b32 a)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [a];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [r], %r2;
  ret;
})")});
  const Function& k = *image->find_entry("k");
  const Instruction* call = nullptr;
  for (std::size_t i = 0; i < k.code.size(); ++i) {
    if (k.opcodes[i] == "call.uni") call = &k.code[i];
  }
  ASSERT_NE(call, nullptr);
  const auto& callee = *reinterpret_cast<const Function*>(call->imm);
  EXPECT_EQ(callee.name, "twice");
  const std::uint32_t* list = call->list + call->op[0];
  EXPECT_EQ(list[0], 1u);
  EXPECT_EQ(list[2], 0u);  // the callee's, relative to the start of its parameters
  EXPECT_EQ(list[3], 16u);
  EXPECT_EQ(list[4], 1u);
  EXPECT_EQ(list[5], 0u);
  EXPECT_EQ(list[7], 16u);
  EXPECT_EQ(list[8], 4u);
  EXPECT_NE(list[1], list[6]);
  EXPECT_EQ(callee.parameter_bytes, 512u);
  EXPECT_EQ(callee.result_bytes, 16u);
}

TEST_F(ImageTest, PrefersStrongDefinitions) {
  const auto image = load_all(
      {module_of(".weak .global .align 4 .u32 x = 1;\n.common .global .align 4 .u32 y;\n"
                 ".weak .func f() { ret; }\n.visible .entry k() { ret; }"),
       module_of(".visible .global .align 4 .u32 x = 2;\n.common .global .align 4 .b8 y[64];\n"
                 ".weak .func f() { ret; }")});
  EXPECT_EQ(memory.read<std::uint32_t>(image->find_global("x")->address), 2u);
  EXPECT_EQ(image->find_global("y")->size, 64u);
}

TEST_F(ImageTest, RefusesWhatDoesNotLink) {
  const std::string twice = module_of(".visible .func f() { ret; }");
  expect_error_of_all({twice, twice}, Kind::link, "'f' is defined twice");
  expect_error(R"(.extern .func g();
.visible .entry k() {
  call g;
})",
               Kind::link, "line 6, column 8: 'g' is declared, but no module defines it");
}

TEST_F(ImageTest, RefusesKernelsOfWhatIsNotSimulated) {
  const auto image = load(R"(
.global .texref picture;
.global .surfref canvas;
.global .samplerref smooth = { addr_mode_0 = wrap, filter_mode = linear };
.extern .func (.param .b32 r) cudaDeviceSynchronize();
.func sample() {
  .reg .f32 %f<5>;
  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, smooth, {%f1, %f2}];
  ret;
}
.func between() { call sample; ret; }
.visible .entry direct() { .reg .b32 %r<2>; txq.width.b32 %r1, [picture]; ret; }
.visible .entry indirect(.param .u32 n) { call between; ret; }
.visible .entry names() { .reg .b64 %rd<2>; mov.b64 %rd1, canvas; ret; }
.visible .entry takes(.param .texref t) { ret; }
.visible .entry launches() { .param .b32 r; call (r), cudaDeviceSynchronize; ret; }
.visible .entry multiplies() { wgmma.fence.sync.aligned; ret; }
.visible .entry runs(.param .u64 p) { ret; })");
  const auto refusal = [&](std::string_view name) { return image->find_entry(name)->refusal; };
  ASSERT_EQ(image->entries().size(), 7u);
  EXPECT_EQ(refusal("runs"), "");
  EXPECT_FALSE(image->find_entry("runs")->code.empty());
  EXPECT_EQ(refusal("direct"),
            "line 15, column 45: instruction 'txq.width.b32' is not simulated in kernel 'direct'");
  EXPECT_EQ(refusal("indirect"),
            "line 11, column 3: instruction 'tex.2d.v4.f32.f32' is not simulated in function "
            "'sample', which the kernel 'indirect' may call");
  EXPECT_EQ(image->find_entry("indirect")->parameters.size(), 1u);
  EXPECT_NE(refusal("names").find("the texture, sampler or surface 'canvas' is not simulated"),
            std::string::npos);
  EXPECT_NE(refusal("takes").find("the texture, sampler or surface 't' is not simulated"),
            std::string::npos);
  EXPECT_NE(refusal("launches").find("dynamic parallelism"), std::string::npos);
  EXPECT_NE(refusal("multiplies").find("'wgmma.fence.sync.aligned' is not simulated in kernel"),
            std::string::npos);
  for (const Function* entry : image->entries()) {
    EXPECT_EQ(entry->code.empty(), entry->name != "runs") << entry->name;
  }
  EXPECT_EQ(image->find_global("picture"), nullptr);
  EXPECT_TRUE(memory.pieces.empty());
}

TEST_F(ImageTest, RefusesPtxOfOtherRules) {
  expect_error_of_all({module_of(".entry k() { ret; }", "sm_13", "1.4")}, Kind::not_simulated,
                      ".version 1.4, .target sm_13: PTX for GPUs before sm_20 has its own rules");
  EXPECT_NE(load_all({module_of(".entry k() { ret; }", "sm_20", "2.0")})->find_entry("k"), nullptr);
}

TEST_F(ImageTest, LoadsBesideWhatNoKernelReaches) {
  const auto image = load(R"(
.extern .func g();
.func unused() { call g; ret; }
.func caller() { call unused; ret; }
.visible .entry k() { ret; })");
  EXPECT_NE(image->find_entry("k"), nullptr);
}

TEST_F(ImageTest, NamesWhatItDoesNotKnow) {
  expect_error(R"(.visible .entry k()
{
  foo.bar;
})",
               Kind::unknown, "line 6, column 3: unknown instruction 'foo.bar' in kernel 'k'");
  expect_error(".visible .entry k() { .reg .b32 %r<2>; add.f99 %r1, %r1, %r1; }", Kind::unknown,
               "unknown modifiers of 'add' in the instruction 'add.f99'");
  expect_error(R"(.func f()
{
  foo;
}
.visible .entry k() { call f; })",
               Kind::unknown, "line 6, column 3: unknown instruction 'foo' in function 'f'");
}

TEST_F(ImageTest, RefusesOperandsThatDoNotFit) {
  expect_error(R"(.visible .entry k()
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  add.u32 %r1, %rd1, %r1;
})",
               Kind::syntax,
               "line 8, column 16: operand 2 of 'add.u32', a register of type .b64, does not fit");
  expect_error(".visible .entry k() { .reg .b32 %r<2>; add.u32 %r1, %r1; }", Kind::syntax,
               "the operands of 'add.u32' do not fit");
  expect_error(".visible .entry k() { .reg .b32 %r<2>; .reg .b16 %h<2>; ld.global.u32 %h1, [0]; }",
               Kind::syntax, "operand 1 of 'ld.global.u32'");
  expect_error(".visible .entry k() { .reg .f32 %f<2>; add.f32 %f1, %f1, 1; }", Kind::syntax,
               "operand 3 of 'add.f32'");
  expect_error(".visible .entry k() { .reg .b128 %q<2>; ld.global.u32 %q1, [0]; }", Kind::syntax,
               "operand 1 of 'ld.global.u32', a register of type .b128, does not fit");
  expect_error(".visible .entry k() { .reg .b128 %q<2>; st.global.u64 [0], %q1; }", Kind::syntax,
               "operand 2 of 'st.global.u64', a register of type .b128, does not fit");
}

TEST_F(ImageTest, TakesSizesAndMasksOfInstructionsOnFloats) {
  load(R"(.visible .entry k()
{
  .reg .f32 %f<9>; .reg .f64 %d<3>; .reg .b64 %rd<3>; .reg .b32 %r<2>;
  wmma.load.c.sync.aligned.row.m16n16k16.global.f32
      {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [%rd1], 16;
  wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%rd1], {%d1, %d2}, 8;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r1], 16;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64 [%rd1], [%r1], 16;
})");
}

TEST_F(ImageTest, RefusesAddressesOf32BitsWhereTheyHave64) {
  for (const std::string instruction :
       {"ld.const.u32 %r1, [%r2]", "ld.global.u32 %r1, [%r2]", "ld.u32 %r1, [%r2]",
        "ld.param.u32 %r1, [%r2]", "atom.global.add.u32 %r1, [%r2], %r1",
        "ld.acquire.gpu.global.u32 %r1, [%r2]"}) {
    expect_error(".visible .entry k() { .reg .b32 %r<4>; " + instruction + "; }", Kind::syntax,
                 "operand 2 of '" + instruction.substr(0, instruction.find(' ')) +
                     "', an address of 32 bits, does not fit");
  }
  for (const std::string instruction :
       {"st.global.u32 [%r2], %r1", "mbarrier.init.b64 [%r2], 1", "prefetch.global.L2 [%r2]"}) {
    expect_error(".visible .entry k() { .reg .b32 %r<4>; " + instruction + "; }", Kind::syntax,
                 "an address of 32 bits, does not fit");
  }
  expect_error(
      ".visible .entry k() { .reg .b32 %r<4>; cp.async.ca.shared.global [%r2], [%r1], 16; }",
      Kind::syntax, "the operands of 'cp.async.ca.shared.global' do not fit");
  load(R"(.visible .entry k()
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.shared.u32 %r1, [%r2];
  ld.shared.u32 %r1, [%rd2];
  ld.shared::cluster.u32 %r1, [%r2];
  st.local.u32 [%r2], %r1;
  atom.shared.add.u32 %r1, [%r2], 1;
  mbarrier.init.shared.b64 [%r2], 1;
  cp.async.ca.shared.global [%r2], [%rd1], 16;
})");
}

TEST_F(ImageTest, RefusesTextThatIsNotPtx) {
  expect_error(".visible .entry k() {", Kind::syntax, "line ");
}

TEST_F(ImageTest, RefusesNewerVersionsAndTargets) {
  const std::string_view body = ".visible .entry k() { ret; }";
  expect_error_of_all({module_of(body, "sm_100")}, Kind::unsupported_target, "sm_100");
  expect_error_of_all({module_of(body, "sm_90", "9.6")}, Kind::unsupported_version, "9.6");
  EXPECT_NE(load_all({module_of(body, "sm_90a")}), nullptr);
  EXPECT_NE(load_all({module_of(body, "sm_75")}), nullptr);
  target.major = 10;
  expect_error_of_all({module_of(body, "sm_90a")}, Kind::unsupported_target, "sm_90a");
  EXPECT_NE(load_all({module_of(body, "sm_100f", "8.8")}), nullptr);
}

/// The window address that a kernel's first mov gets.
std::uint32_t first_address(const Function& function) {
  std::uint64_t value = 0;
  std::memcpy(&value,
              function.constants.data() + (function.code[0].op[1] - function.constants_begin),
              sizeof value);
  return static_cast<std::uint32_t>(value);
}

TEST_F(ImageTest, LaysOutSharedMemoryForEachKernel) {
  const auto image = load(R"(
.shared .align 4 .b8 common[100];
.extern .shared .align 16 .b8 dynamic[];
.func f() { .reg .b64 %rd<2>; mov.u64 %rd1, common; ret; }
.visible .entry a()
{
  .reg .b64 %rd<3>;
  .shared .align 8 .b8 own_a[64];
  mov.u64 %rd1, own_a;
  call f;
}
.visible .entry b()
{
  .reg .b64 %rd<3>;
  .shared .align 32 .b8 own_b[1000];
  mov.u64 %rd1, own_b;
  mov.u64 %rd2, dynamic;
  call f;
}
.visible .entry c()
{
  .reg .b64 %rd<3>;
  .shared .align 8 .b8 own_c[8];
  mov.u64 %rd1, own_c;
}
.visible .entry d() { ret; })");
  const Function& a = *image->find_entry("a");
  const Function& b = *image->find_entry("b");
  const Function& c = *image->find_entry("c");
  EXPECT_EQ(first_address(a), shared_begin + 104);
  EXPECT_EQ(a.shared_bytes, 168u);
  EXPECT_EQ(first_address(b), shared_begin + 128);
  EXPECT_EQ(b.shared_bytes, 1136u);  // 1128, and dynamic memory is aligned
  EXPECT_EQ(first_address(c), shared_begin);
  EXPECT_EQ(c.shared_bytes, 8u);
  EXPECT_EQ(image->find_entry("d")->shared_bytes, 0u);
}

TEST_F(ImageTest, LimitsStaticSharedMemory) {
  expect_error(R"(.visible .entry k()
{
  .shared .align 4 .b8 big[50000];
  .reg .b64 %rd<2>;
  mov.u64 %rd1, big;
})",
               Kind::too_large, "50000 bytes");
}

TEST_F(ImageTest, MeasuresStacks) {
  const auto image = load(R"(
.func leaf() { .local .align 8 .b8 l[100]; ret; }
.func middle() { .local .align 8 .b8 l[20]; call leaf; ret; }
.func again() { .local .align 8 .b8 l[20]; call again; ret; }
.visible .entry k() { .local .align 4 .b8 l[4]; call leaf; call middle; }
.visible .entry r() { call again; }
.visible .entry p(.param .u64 f)
{ .reg .b64 %rd<2>; ld.param.u64 %rd1, [f]; P: .callprototype _ (); call %rd1, (), P; })");
  const Function& k = *image->find_entry("k");
  EXPECT_EQ(k.local_bytes, 4u);
  EXPECT_EQ(k.stack_bytes, 16u + 32u + 112u);
  EXPECT_FALSE(k.recursive);
  EXPECT_TRUE(image->find_entry("r")->recursive);
  EXPECT_TRUE(image->find_entry("p")->recursive);
}

TEST_F(ImageTest, KeepsLocationsOfTheSource) {
  const auto image = load(R"(
.file 1 "kernel.cu"
.visible .entry k()
{
  .loc 1 17 3
  bar.sync 0;
})");
  const Function& k = *image->find_entry("k");
  const Place& place = k.places[k.code[0].where];
  EXPECT_EQ(place.line, 17u);
  EXPECT_EQ(place.ptx_line, 9u);
  ASSERT_LT(place.file, image->files().size());
  EXPECT_EQ(image->files()[place.file], "kernel.cu");
}

TEST_F(ImageTest, WidensAndNarrowsValues) {
  const auto image = load(R"(
.visible .entry k(.param .u64 p)
{
  .reg .b16 %h<3>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  ld.global.s8 %r1, [%rd1];
  st.global.u8 [%rd1+4], %r1;
})");
  const Function& k = *image->find_entry("k");
  ASSERT_EQ(k.code.size(), 6u);
  // Loaded into a row of bytes, then extended; truncated, then stored.
  EXPECT_EQ(k.code[2].op[1], k.code[1].op[0]);
  EXPECT_EQ(k.code[3].op[1], k.code[2].op[0]);
  EXPECT_EQ(k.code[4].imm, 4u);
}

TEST_F(ImageTest, GivesFunctionsParametersInRegisters) {
  const auto image = load(R"(
.func (.reg .b32 r) add_one(.reg .b32 a) { add.u32 r, a, 1; ret; }
.visible .entry k()
{
  .reg .b32 %r<3>;
  mov.b32 %r1, 4;
  call (%r2), add_one, (%r1);
  call (%r2), add_one, (5);
})");
  const Function& k = *image->find_entry("k");
  // mov; twice: store the argument, call, load the result; ret
  EXPECT_EQ(k.code.size(), 8u);
  EXPECT_EQ(k.code[1].op[0], k.code[0].op[0]);
}

}  // namespace
}  // namespace cudacore::simulator

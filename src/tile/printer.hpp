// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tile/kernel.hpp"
#include "tile/lowering.hpp"
#include "tile/pointer_root.hpp"
#include "tile/streaming_loads.hpp"
#include "tile/writer.hpp"

namespace cudacore::tile {

/// Prints operations as CUDA C++. A tile is an array with an element for each register of its
/// layout, named as the value; what is used once, or is cheap, is printed where it is used.
class Printer {
 public:
  Printer(Kernel& kernel, const Target& target, const Lowering& lowering,
          std::int64_t shared_bytes);

  /// Prints the whole translation unit.
  [[nodiscard]] std::string kernel();

  /// Where lines go; what waits to be printed is printed first.
  Writer& out();
  [[nodiscard]] const Target& target() const { return target_; }
  [[nodiscard]] Error error(const Operation& operation, const std::string& message) const;

  /// The C++ name of a value's variable, or of its array. Its array need not exist: see array().
  [[nodiscard]] static std::string name(const Value& value);
  /// The expression of a scalar.
  [[nodiscard]] std::string scalar(const Operand& operand);
  /// The expression of the element in the register whose number is the expression `number`.
  [[nodiscard]] std::string element(const Operand& operand, const std::string& number);
  /// The name of an array with a value's elements, which is printed now if it does not exist.
  [[nodiscard]] std::string array(const Value& value);
  /// Has the text include a header of device/, by its name.
  void need(const std::string& header) { headers_.insert(header); }

  /// Has the text give a lambda a name before the kernel. What it does has the line where the name
  /// stands.
  void define_lambda(const std::string& name, const std::string& text) { lambdas_[name] = text; }

  void region(const Region& region);
  /// Prints a region of a loop or an if; terminators within see whose it is.
  void inner(const Operation& owner, const Region& region);
  /// The loops and ifs around what is printed, outer ones first.
  [[nodiscard]] const std::vector<const Operation*>& owners() const { return owners_; }
  void operation(const Operation& operation);
  /// Declares the array or variable of a value that later lines assign.
  void declare(const Value& value);
  /// Prints a line for each register of a value: `statement` has the register's number as `r`.
  void each(const Value& value, const std::string& statement);
  /// Prints a barrier if one comes before this phase of the operation's effects.
  void barrier(const Operation& operation, std::size_t phase);
  /// The address of a byte of shared memory, as a pointer to elements.
  [[nodiscard]] static std::string shared(Element element, std::int64_t offset);
  /// The expression of a sum over the thread's bits: bit i of the lane, or of the warp, adds 2^k
  /// where the list says k, and nothing where it says -1. "0" if nothing does.
  [[nodiscard]] static std::string thread_part(const std::vector<int>& lanes,
                                               const std::vector<int>& warps);
  /// The same of the register's number, an expression.
  [[nodiscard]] static std::string register_part(const std::vector<int>& registers,
                                                 const std::string& number);
  /// A condition that one of the threads with the same elements fulfills; empty if each has its
  /// own.
  [[nodiscard]] static std::string is_first_replica(const Layout& layout);
  /// A new name for a variable of the printed text.
  [[nodiscard]] std::string fresh(const std::string& stem);
  /// Whether the kernel writes to what a pointer points into.
  [[nodiscard]] bool is_written(const Value* pointer) const;
  [[nodiscard]] int uses(const Value& value) const;
  /// Whether blocks load other elements each, while there are some that all blocks load.
  [[nodiscard]] bool is_streamed(const Operation& load) const { return streaming_loads_.has(load); }
  /// Whether a thread may have so many more registers taken by what is loaded before its use.
  [[nodiscard]] bool may_hold(int words);
  /// Has a value be printed as an expression of the register's number, for which \x01 stands.
  void defer(const Value& value, const std::string& text) { deferred_[&value] = text; }

 private:
  void parameters(std::string& text);
  void count_uses();
  void count_uses(const Region& region, std::map<const Value*, const Region*>& homes);
  void elementwise(const Operation& operation);
  void forward(const Operation& operation);
  void define(const Value& value, const std::string& text);
  [[nodiscard]] static std::string at(const std::string& text, const std::string& number);

  Kernel& kernel_;
  Target target_;
  const Lowering& lowering_;
  std::int64_t shared_bytes_;
  Writer writer_;
  StreamingLoads streaming_loads_;
  std::set<std::string> headers_ = {"base.cuh"};
  std::map<const Value*, int> uses_;
  std::set<Root> written_;
  // Expressions of values without variables, with a mark where the register's number goes.
  std::unordered_map<const Value*, std::string> deferred_;
  std::vector<std::string> waiting_;  // statements of the loop that is collected
  int waiting_count_ = 0;             // its registers
  std::set<std::string> waiting_names_;
  int fresh_ = 0;
  int held_words_ = 0;
  std::map<std::string, std::string> lambdas_;
  std::vector<const Operation*> owners_;
};

/// Printers of the operations of the text, by kind; each prints one operation.
void print_load(Printer& printer, const Operation& operation);
void print_store(Printer& printer, const Operation& operation);
void print_load_at(Printer& printer, const Operation& operation);
void print_store_at(Printer& printer, const Operation& operation);
void print_atomic(Printer& printer, const Operation& operation);
/// A division by what rows of elements share; false: it is another operation, and not printed.
[[nodiscard]] bool print_quotient(Printer& printer, const Operation& operation);
void print_reduce(Printer& printer, const Operation& operation);
void print_scan(Printer& printer, const Operation& operation);
void print_convert(Printer& printer, const Operation& operation);
void print_block(Printer& printer, const Operation& operation);  ///< extract, insert, cat, pack
void print_control(Printer& printer, const Operation& operation);
void print_message(Printer& printer, const Operation& operation);  ///< print and assert

}  // namespace cudacore::tile

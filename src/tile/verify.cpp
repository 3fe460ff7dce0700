// SPDX-License-Identifier: Apache-2.0
#include "tile/verify.hpp"

#include <string>
#include <unordered_map>

#include "tile/operations.hpp"

namespace cudacore::tile {
namespace {

// How many plain operands and results an operation has; -1: any number.
struct Form {
  int operands = -1;
  int results = -1;
};

const std::unordered_map<std::string_view, Form>& forms() {
  static const std::unordered_map<std::string_view, Form> table = {
      {"const", {0, 1}},     {"iota", {0, 1}},
      {"bid", {0, 1}},       {"num_blocks", {0, 1}},
      {"add", {2, 1}},       {"sub", {2, 1}},
      {"mul", {2, 1}},       {"div", {2, 1}},
      {"floordiv", {2, 1}},  {"mod", {2, 1}},
      {"pow", {2, 1}},       {"atan2", {2, 1}},
      {"min", {2, 1}},       {"max", {2, 1}},
      {"and", {2, 1}},       {"or", {2, 1}},
      {"xor", {2, 1}},       {"shl", {2, 1}},
      {"shr", {2, 1}},       {"mulhi", {2, 1}},
      {"neg", {1, 1}},       {"abs", {1, 1}},
      {"not", {1, 1}},       {"exp", {1, 1}},
      {"exp2", {1, 1}},      {"log", {1, 1}},
      {"log2", {1, 1}},      {"sqrt", {1, 1}},
      {"rsqrt", {1, 1}},     {"sin", {1, 1}},
      {"cos", {1, 1}},       {"tan", {1, 1}},
      {"sinh", {1, 1}},      {"cosh", {1, 1}},
      {"tanh", {1, 1}},      {"floor", {1, 1}},
      {"ceil", {1, 1}},      {"isnan", {1, 1}},
      {"eq", {2, 1}},        {"ne", {2, 1}},
      {"lt", {2, 1}},        {"le", {2, 1}},
      {"gt", {2, 1}},        {"ge", {2, 1}},
      {"select", {3, 1}},    {"fma", {3, 1}},
      {"cast", {1, 1}},      {"bitcast", {1, 1}},
      {"broadcast", {1, 1}}, {"reshape", {1, 1}},
      {"permute", {1, 1}},   {"cat", {2, 1}},
      {"extract", {1, 1}},   {"insert", {2, 1}},
      {"pack", {1, 1}},      {"unpack", {1, 1}},
      {"load", {1, 1}},      {"store", {2, 0}},
      {"load_at", {2, 1}},   {"store_at", {3, 0}},
      {"atomic", {3, -1}},   {"atomic_cas", {4, -1}},
      {"reduce", {-1, -1}},  {"scan", {-1, -1}},
      {"mma", {3, 1}},       {"assume_div", {1, 1}},
      {"print", {-1, 0}},    {"assert", {1, 0}},
      {"grid_wait", {0, 0}}, {"grid_launch_dependents", {0, 0}},
      {"call", {-1, 1}},     {"for", {3, -1}},
      {"loop", {0, -1}},     {"if", {1, -1}},
      {"continue", {-1, 0}}, {"break", {-1, 0}},
      {"yield", {-1, 0}},    {"return", {0, 0}},
  };
  return table;
}

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel) {}

  void region(const Region& region) {
    for (const std::unique_ptr<Operation>& operation : region.operations) {
      check(*operation);
      for (const std::unique_ptr<Region>& inner : operation->regions) this->region(*inner);
    }
  }

 private:
  [[noreturn]] void fail(const Operation& operation, const std::string& message) const {
    throw kernel_.error(operation.location, "'" + operation.name + "' " + message + " (line " +
                                                std::to_string(operation.text_line) +
                                                " of the tile text)");
  }

  void check(const Operation& operation) const {
    const auto found = forms().find(operation.name);
    if (found == forms().end()) fail(operation, "is no operation of the text");
    const auto [operands, results] = found->second;
    if (operands >= 0 && static_cast<int>(operation.operands.size()) != operands)
      fail(operation, "has " + std::to_string(operands) + " operands, not " +
                          std::to_string(operation.operands.size()));
    if (results >= 0 && static_cast<int>(operation.results.size()) != results)
      fail(operation, "has " + std::to_string(results) + " results, not " +
                          std::to_string(operation.results.size()));
  }

  const Kernel& kernel_;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).region(kernel.body); }

}  // namespace cudacore::tile

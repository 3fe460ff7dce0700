// SPDX-License-Identifier: Apache-2.0
#include "tile/parse.hpp"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tile/tokens.hpp"

namespace cudacore::tile {
namespace {

constexpr int most_dimensions = 16;
constexpr int deepest_regions = 200;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::unique_ptr<Kernel> parse() {
    read_head();
    read_region(kernel_->body, 0);
    if (next_line()) Tokens(line_, number_).fail("text after the end of the kernel");
    return std::move(kernel_);
  }

 private:
  // How a region's text ended.
  enum class End { close, otherwise };

  // Moves to the next line with text.
  bool next_line() {
    while (!text_.empty()) {
      const std::size_t end = text_.find('\n');
      line_ = text_.substr(0, end);
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
      ++number_;
      if (Tokens(line_, number_).next().kind != Token::Kind::end) return true;
    }
    line_ = {};
    return false;
  }

  void read_head() {
    bool versioned = false;
    while (next_line()) {
      Tokens tokens(line_, number_);
      if (tokens.accept("tile")) {
        if (tokens.integer() != 1) tokens.fail("the version of the text is not 1");
        versioned = true;
      } else if (tokens.accept("file")) {
        if (tokens.integer() != static_cast<std::int64_t>(kernel_->files.size()))
          tokens.fail("files are numbered from 0 in order");
        if (tokens.next().kind != Token::Kind::string) tokens.fail("expected the file's path");
        kernel_->files.push_back(tokens.take().text);
      } else if (tokens.accept("source")) {
        read_source(tokens);
      } else {
        tokens.expect("kernel");
        if (!versioned) tokens.fail("the text does not begin with 'tile 1'");
        if (tokens.next().kind != Token::Kind::string) tokens.fail("expected the kernel's name");
        kernel_->name = tokens.take().text;
        tokens.expect("{");
        return;
      }
    }
    Tokens({}, number_).fail("there is no kernel");
  }

  void read_source(Tokens& tokens) {
    DeviceSource& source = kernel_->sources.emplace_back();
    for (std::string* const part : {&source.file, &source.code}) {
      if (tokens.next().kind != Token::Kind::string)
        tokens.fail("expected a source's file and text");
      *part = tokens.take().text;
      if (part == &source.file) source.line = tokens.integer();
    }
    if (tokens.next().kind != Token::Kind::end) tokens.fail("text after a source");
  }

  End read_region(Region& region, int depth) {
    const std::size_t outer = scope_.size();
    for (Value* const argument : region.arguments) scope_.push_back(argument->name);
    for (;;) {
      if (!next_line()) Tokens({}, number_).fail("a region does not end");
      Tokens tokens(line_, number_);
      if (tokens.accept("}")) {
        const End end = tokens.accept("else") ? End::otherwise : End::close;
        if (end == End::otherwise) tokens.expect("{");
        for (; scope_.size() > outer; scope_.pop_back()) visible_.erase(scope_.back());
        return end;
      }
      if (depth == 0 && tokens.accept("param")) {
        read_parameter(tokens);
      } else if (depth == 0 && tokens.accept("hint")) {
        std::string key = tokens.word();
        tokens.expect("=");
        kernel_->hints[std::move(key)] = tokens.integer();
      } else {
        read_operation(tokens, region, depth);
      }
    }
  }

  Value* define(const Tokens& tokens, std::string name, Type type) {
    if (!defined_.emplace(name, 0).second) tokens.fail("%" + name + " is defined twice");
    Value* const value = kernel_->add_value(std::move(type), name);
    visible_[std::move(name)] = value;
    return value;
  }

  static std::vector<std::string> names_of(const Tokens& tokens, const Attribute& attribute) {
    const auto* const list = std::get_if<AttributeList>(&attribute.value);
    if (list == nullptr) tokens.fail("groups of pointers are a list of names");
    std::vector<std::string> names;
    for (const Attribute& each : *list) {
      const auto* const name = std::get_if<std::string>(&each.value);
      if (name == nullptr) tokens.fail("the name of a group of pointers is a string");
      names.push_back(*name);
    }
    return names;
  }

  void read_parameter(Tokens& tokens) {
    std::string name = tokens.value();
    tokens.expect(":");
    Type type = read_type(tokens);
    Value* const value = define(tokens, std::move(name), std::move(type));
    std::map<std::string, Attribute, std::less<>> attributes;
    if (tokens.at("{")) read_attributes(tokens, attributes);
    for (const char* const key : {"align", "div"})
      if (const auto found = attributes.find(key); found != attributes.end())
        if (const auto* const number = std::get_if<std::int64_t>(&found->second.value))
          value->divisor = *number;
    if (value->divisor < 1) tokens.fail("what divides a parameter is positive");
    if (const auto found = attributes.find("alias"); found != attributes.end())
      value->alias_groups = names_of(tokens, found->second);
    kernel_->parameters.push_back(value);
  }

  static Type read_type(Tokens& tokens) {
    Type type;
    std::string word = tokens.word();
    type.pointer = word == "ptr";
    if (type.pointer) {
      tokens.expect("<");
      word = tokens.word();
    }
    const std::optional<Element> element = element_named(word);
    if (!element) tokens.fail("'" + word + "' is no type of elements");
    type.element = *element;
    if (type.pointer) tokens.expect(">");
    if (!tokens.accept("[")) return type;
    std::int64_t size = 1;
    while (!tokens.accept("]")) {
      if (!type.shape.empty()) tokens.expect(",");
      const std::int64_t extent = tokens.integer();
      if (extent < 1 || (extent & (extent - 1)) != 0)
        tokens.fail("the extent " + std::to_string(extent) + " is not a power of two");
      if (extent > (std::int64_t{1} << 30) || (size *= extent) > (std::int64_t{1} << 30))
        tokens.fail("a tile has more than 2^30 elements");
      type.shape.push_back(extent);
      if (type.shape.size() > most_dimensions) tokens.fail("a tile has too many dimensions");
    }
    return type;
  }

  Operand read_operand(Tokens& tokens) {
    if (tokens.next().kind == Token::Kind::integer) return {nullptr, tokens.integer()};
    const std::string name = tokens.value();
    const auto found = visible_.find(name);
    if (found == visible_.end()) tokens.fail("%" + name + " is not defined here");
    return {found->second, 0};
  }

  static Attribute read_attribute(Tokens& tokens, int depth = 0) {
    if (depth > 4) tokens.fail("lists are nested too deeply");
    if (tokens.accept("(")) {
      AttributeList list;
      while (!tokens.accept(")")) {
        if (!list.empty()) {
          tokens.expect(",");
          if (tokens.accept(")")) break;
        }
        list.push_back(read_attribute(tokens, depth + 1));
      }
      return {std::move(list)};
    }
    Token token = tokens.take();
    switch (token.kind) {
      case Token::Kind::integer:
        return {token.integer};
      case Token::Kind::number:
        return {token.number};
      case Token::Kind::word:
        return {Word{std::move(token.text)}};
      case Token::Kind::string:
        return {std::move(token.text)};
      default:
        tokens.fail("expected an attribute's value");
    }
  }

  static void read_attributes(Tokens& tokens,
                              std::map<std::string, Attribute, std::less<>>& attributes) {
    tokens.expect("{");
    for (bool first = true; !tokens.accept("}"); first = false) {
      if (!first) tokens.expect(",");
      std::string key = tokens.word();
      tokens.expect("=");
      attributes[std::move(key)] = read_attribute(tokens);
    }
  }

  void read_location(Tokens& tokens, Location& location) const {
    if (!tokens.accept("@")) return;
    location.file = static_cast<int>(tokens.integer());
    tokens.expect(":");
    location.line = static_cast<int>(tokens.integer());
    tokens.expect(":");
    location.column = static_cast<int>(tokens.integer());
    if (location.file < 0 || location.file >= static_cast<int>(kernel_->files.size()))
      tokens.fail("a place in a file that is not listed");
  }

  // The head of a for or loop: induction variable, bounds, carried values.
  void read_loop(Tokens& tokens, Operation& operation, std::vector<std::string>& arguments) {
    if (operation.is("for")) {
      arguments.push_back(tokens.value());
      tokens.expect("=");
      tokens.expect("(");
      for (int i = 0; i < 3; ++i) {
        if (i > 0) tokens.expect(",");
        operation.operands.push_back(read_operand(tokens));
      }
      tokens.expect(")");
    }
    std::vector<Operand>& carried = operation.groups["iter"];
    if (!tokens.accept("iter")) return;
    tokens.expect("(");
    for (bool first = true; !tokens.accept(")"); first = false) {
      if (!first) tokens.expect(",");
      arguments.push_back(tokens.value());
      tokens.expect("=");
      carried.push_back(read_operand(tokens));
    }
  }

  void read_operands(Tokens& tokens, Operation& operation) {
    for (bool first = true;; first = false) {
      const Token::Kind kind = tokens.next().kind;
      if (kind == Token::Kind::word) {
        std::vector<Operand>& group = operation.groups[tokens.word()];
        tokens.expect("(");
        for (bool start = true; !tokens.accept(")"); start = false) {
          if (!start) tokens.expect(",");
          group.push_back(read_operand(tokens));
        }
      } else if (kind == Token::Kind::value || kind == Token::Kind::integer) {
        operation.operands.push_back(read_operand(tokens));
      } else {
        if (!first) tokens.fail("expected an operand after the comma");
        return;
      }
      if (!tokens.accept(",")) return;
    }
  }

  void read_operation(Tokens& tokens, Region& region, int depth) {
    auto owned = std::make_unique<Operation>();
    Operation& operation = *owned;
    operation.location.text_line = number_;
    std::vector<std::string> results;
    if (tokens.next().kind == Token::Kind::value) {
      do results.push_back(tokens.value());
      while (tokens.accept(","));
      tokens.expect("=");
    }
    operation.name = tokens.word();
    std::vector<std::string> names;  // of the first region's arguments
    std::vector<Type> types;         // their types, where they are written
    const bool is_loop = operation.is("for") || operation.is("loop");
    if (is_loop)
      read_loop(tokens, operation, names);
    else
      read_operands(tokens, operation);
    // A brace at the end of the line opens a region.
    if (tokens.at("{") && !opens_region(tokens)) read_attributes(tokens, operation.attributes);
    std::vector<Type> result_types;
    if (tokens.accept(":")) {
      do result_types.push_back(read_type(tokens));
      while (tokens.accept(","));
    }
    if (tokens.accept("(")) {
      while (!tokens.accept(")")) {
        if (!names.empty()) tokens.expect(",");
        names.push_back(tokens.value());
        tokens.expect(":");
        types.push_back(read_type(tokens));
      }
    }
    read_location(tokens, operation.location);
    const bool has_region = tokens.accept("{");
    read_location(tokens, operation.location);
    if (tokens.next().kind != Token::Kind::end)
      tokens.fail("unexpected '" + tokens.next().text + "'");
    if (result_types.size() != results.size())
      tokens.fail("the operation names " + std::to_string(results.size()) + " results and " +
                  std::to_string(result_types.size()) + " types");
    if (has_region !=
        (is_loop || operation.is("if") || operation.is("reduce") || operation.is("scan")))
      tokens.fail("'" + operation.name + (has_region ? "' has no region" : "' lacks its region"));
    if (is_loop) loop_types(tokens, operation, types);
    if (has_region) read_regions(tokens, operation, names, types, depth);
    for (std::size_t i = 0; i < results.size(); ++i) {
      Value* const value = define(tokens, results[i], result_types[i]);
      scope_.push_back(results[i]);
      value->source = &operation;
      operation.results.push_back(value);
    }
    region.operations.push_back(std::move(owned));
  }

  static bool opens_region(const Tokens& tokens) {
    Tokens ahead = tokens;
    ahead.take();
    return ahead.next().kind == Token::Kind::end || ahead.at("@");
  }

  static void loop_types(const Tokens& tokens, const Operation& operation,
                         std::vector<Type>& types) {
    if (operation.is("for")) {
      const Value* const start = operation.operands[0].value;
      types.push_back(start == nullptr ? Type{Element::i32, {}, false} : start->type);
    }
    for (const Operand& carried : operation.groups.find("iter")->second) {
      if (carried.value == nullptr) tokens.fail("a loop carries values, not literals");
      types.push_back(carried.value->type);
    }
  }

  void read_regions(const Tokens& tokens, Operation& operation,
                    const std::vector<std::string>& names, const std::vector<Type>& types,
                    int depth) {
    if (depth == deepest_regions)
      throw kernel_->error(operation.location,
                           "branches, loops, 'and' and 'or' are nested more than " +
                               std::to_string(deepest_regions) + " deep");
    End end = End::otherwise;
    while (end == End::otherwise) {
      if (operation.regions.size() == (operation.is("if") ? 2 : 1))
        tokens.fail("'" + operation.name + "' has too many regions");
      Region& region = *operation.regions.emplace_back(std::make_unique<Region>());
      region.parent = &operation;
      for (std::size_t i = 0; i < names.size(); ++i) {
        region.arguments.push_back(define(tokens, names[i], types[i]));
        region.arguments.back()->region = &region;
      }
      end = read_region(region, depth + 1);
    }
  }

  std::string_view text_;
  std::string_view line_;
  int number_ = 0;
  std::unique_ptr<Kernel> kernel_ = std::make_unique<Kernel>();
  std::unordered_map<std::string, int> defined_;
  std::unordered_map<std::string, Value*> visible_;
  std::vector<std::string> scope_;  // names, in the order in which they came into sight
};

}  // namespace

std::unique_ptr<Kernel> parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace cudacore::tile

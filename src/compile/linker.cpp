// SPDX-License-Identifier: Apache-2.0
#include "cudacore/linker.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "compile/cached_run.hpp"
#include "compile/definitions.hpp"
#include "compile/flags.hpp"
#include "compile/joined_ptx.hpp"
#include "compile/merged_details.hpp"
#include "compile/nvjitlink_session.hpp"
#include "compile/program_key.hpp"
#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "signature/bytes.hpp"

namespace cudacore {

using compile::FlagRule;

struct Linker::LastLink {
  mutable std::mutex mutex;
  std::string error_log;
  std::string info_log;
  std::shared_ptr<void> handle;

  void set(std::string error, std::string info) {
    const std::lock_guard lock(mutex);
    error_log = std::move(error);
    info_log = std::move(info);
  }
};

std::vector<std::string> LinkerOptions::nvjitlink_flags() const {
  std::vector<std::string> flags;
  if (arch) flags.push_back("-arch=" + *arch);
#define CUDACORE_LINKER_OPTION(type, name, rule, flag, ...) \
  compile::append_flag<FlagRule::rule>(flags, "nvJitLink", #name, flag, name);
#include "cudacore/linker_options.def"
#undef CUDACORE_LINKER_OPTION
  return flags;
}

namespace {

bool is_ltoir(const ObjectCode& input) { return input.code_type() == CodeType::ltoir; }

/// Completes the options with what the inputs and the target require, and returns the architecture.
/// @throw std::invalid_argument if they contradict each other.
compile::Architecture complete(LinkerOptions& options, std::span<const ObjectCode> inputs,
                               CodeType target) {
  const bool any_ltoir = std::any_of(inputs.begin(), inputs.end(), is_ltoir);
  if (target != CodeType::cubin && target != CodeType::ptx) {
    throw std::invalid_argument("the linker makes \"cubin\" or \"ptx\", not \"" +
                                std::string(to_string(target)) + "\"");
  }
  if (target == CodeType::cubin && options.ptx.value_or(false)) {
    throw std::invalid_argument(
        "the option ptx asks for PTX and the target is \"cubin\": link to \"ptx\"");
  }
  if (target == CodeType::ptx) {
    const auto other = std::find_if_not(inputs.begin(), inputs.end(), is_ltoir);
    if (other != inputs.end()) {
      throw std::invalid_argument("linking to \"ptx\" takes LTO IR only, not " +
                                  error::with_name(to_string(other->code_type()), other->name()) +
                                  ": compile it to \"ltoir\"");
    }
    options.ptx = true;
  }
  if (any_ltoir) {
    if (options.link_time_optimization == false) {
      throw std::invalid_argument(
          "LTO IR cannot be linked with link_time_optimization=False; leave it out");
    }
    options.link_time_optimization = true;
  } else if (options.link_time_optimization.value_or(false)) {
    throw std::invalid_argument(
        "link_time_optimization needs an input that is LTO IR: compile one to \"ltoir\"");
  }
  compile::Architecture architecture =
      options.arch ? compile::parse_architecture(*options.arch) : compile::current_architecture();
  options.arch = target == CodeType::ptx ? architecture.compute() : architecture.sm();
  return architecture;
}

}  // namespace

Linker::Linker(std::vector<ObjectCode> inputs, LinkerOptions options)
    : inputs_(std::move(inputs)),
      options_(std::move(options)),
      last_(std::make_shared<LastLink>()) {
  if (inputs_.empty()) throw std::invalid_argument("Linker needs at least one object code");
  if (options_.arch) (void)compile::parse_architecture(*options_.arch);
}

ObjectCode Linker::link(CodeType target, cache::Use use) {
  LinkerOptions options = options_;
  const compile::Architecture architecture = complete(options, inputs_, target);
  const std::string name = options.name.value_or("default_linker");
  compile::CachedRun cached(compile::nvjitlink_kind, use == cache::Use::yes,
                            [&](auto& hash, const auto& /*compiler*/) {
                              return compile::add_link(hash, {inputs_, options, target});
                            });
  if (std::optional<compile::CacheEntry> known = cached.find()) {
    last_->set(std::move(known->log), std::move(known->info_log));
    ObjectCode::Details details = compile::merged_details(inputs_, name);
    details.ptx = std::move(known->ptx);
    return {std::move(known->code), target, std::move(details)};
  }
  try {
    compile::check_defined_once(inputs_);
    compile::NvJitLinkSession session(name, architecture, options.nvjitlink_flags());
    for (const ObjectCode& input : inputs_) session.add(input);
    session.complete();
    compile::CacheEntry made;
    made.type = target;
    made.log = session.error_log();
    made.info_log = session.info_log();
    last_->set(made.log, made.info_log);
    ObjectCode::Details details = compile::merged_details(inputs_, name);
    if (target == CodeType::ptx) {
      made.code = signature::bytes_of(session.ptx());
    } else {
      made.ptx = details.ptx = compile::joined_ptx(inputs_, name, architecture, options);
      made.code = session.cubin();
    }
    cached.store(made);
    return {std::move(made.code), target, std::move(details)};
  } catch (const LinkError& error) {
    last_->set(error.log(), {});
    throw;
  }
}

std::shared_ptr<void> Linker::handle() {
  const std::lock_guard lock(last_->mutex);
  if (last_->handle == nullptr) {
    LinkerOptions options = options_;
    const compile::Architecture architecture =
        complete(options, inputs_, options.ptx.value_or(false) ? CodeType::ptx : CodeType::cubin);
    compile::NvJitLinkSession session(options.name.value_or("default_linker"), architecture,
                                      options.nvjitlink_flags());
    for (const ObjectCode& input : inputs_) session.add(input);
    last_->handle = session.keep();
  }
  return last_->handle;
}

std::string Linker::error_log() const {
  const std::lock_guard lock(last_->mutex);
  return last_->error_log;
}

std::string Linker::info_log() const {
  const std::lock_guard lock(last_->mutex);
  return last_->info_log;
}

}  // namespace cudacore

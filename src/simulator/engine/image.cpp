// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/image.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "simulator/engine/call_graph.hpp"
#include "simulator/engine/decoder.hpp"
#include "simulator/engine/linker.hpp"
#include "simulator/engine/variables.hpp"
#include "simulator/ptx/module.hpp"

namespace cudacore::simulator {
namespace {

constexpr unsigned newest_version = 95;
/// In PTX for older GPUs, the same instructions have other meanings.
constexpr int first_simulated = 20;

/// Reads "sm_90a"; returns nothing for other text.
std::optional<Architecture> read_architecture(std::string_view name) noexcept {
  constexpr std::string_view prefix = "sm_";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  Architecture architecture;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), architecture.number);
  if (error != std::errc{}) return std::nullopt;
  name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  if (name.starts_with('a') || name.starts_with('f')) architecture.suffix = name.front();
  return architecture;
}

/// The architecture that a module is for. @throws LoadError if the device cannot run it
Architecture check_version(const ptx::Module& module, const Target& target) {
  if (module.version > newest_version) {
    throw LoadError(LoadError::Kind::unsupported_version,
                    ".version " + std::to_string(module.version / 10) + "." +
                        std::to_string(module.version % 10) + " is newer than 9.5");
  }
  const std::optional<Architecture> wanted = read_architecture(module.target);
  if (!wanted) {
    throw LoadError(LoadError::Kind::syntax,
                    "unknown .target '" + std::string(module.target) + "'");
  }
  if (!wanted->runs_on(target)) {
    throw LoadError(LoadError::Kind::unsupported_target,
                    ".target " + std::string(module.target) + " does not run on a device of sm_" +
                        std::to_string(target.major * 10 + target.minor));
  }
  if (wanted->number < first_simulated) {
    throw LoadError(LoadError::Kind::not_simulated,
                    ".version " + std::to_string(module.version / 10) + "." +
                        std::to_string(module.version % 10) + ", .target " +
                        std::string(module.target) +
                        ": PTX for GPUs before sm_20 has its own rules for arithmetic (subnormal "
                        "numbers are zero, mad.f32 rounds twice), which are not simulated. Compile "
                        "the source again for a newer GPU");
  }
  if (module.address_size != 64) {
    throw LoadError(LoadError::Kind::not_simulated, ".address_size 32 is not simulated");
  }
  return *wanted;
}

std::vector<std::unique_ptr<ptx::Module>> parse_all(std::span<const std::string_view> texts) {
  std::vector<std::unique_ptr<ptx::Module>> modules;
  for (const std::string_view text : texts) {
    try {
      for (std::unique_ptr<ptx::Module>& module : ptx::parse(text)) {
        modules.push_back(std::move(module));
      }
    } catch (const ptx::SyntaxError& error) {
      throw LoadError(LoadError::Kind::syntax, error.what());
    }
  }
  return modules;
}

}  // namespace

bool Architecture::runs_on(const Target& target) const noexcept {
  const int device = target.major * 10 + target.minor;
  if (suffix == 'a') return number == device;
  if (suffix == 'f') return number <= device && number / 10 == target.major;
  return number <= device;
}

std::optional<Architecture> find_architecture(std::string_view ptx) noexcept {
  constexpr std::string_view directive = ".target";
  const std::size_t at = ptx.find(directive);
  if (at == std::string_view::npos) return std::nullopt;
  ptx.remove_prefix(at + directive.size());
  ptx.remove_prefix(std::min(ptx.find_first_not_of(" \t"), ptx.size()));
  return read_architecture(ptx);
}

/// Builds an image, part by part.
class ImageBuilder {
 public:
  ImageBuilder(std::span<const std::string_view> texts, const Target& target)
      : modules_(parse_all(texts)), image_(new Image), linker_(check_all(target)) {}

  std::shared_ptr<const Image> build(const FormTable& forms, const Target& target,
                                     const Image::Allocate& allocate) {
    make_functions();
    const CallGraph graph(linker_);
    const SharedLayout shared(linker_, graph, target);
    place_globals(linker_, allocate, image_->functions_);
    name_globals();
    collect_files();
    decode_all(forms, graph, shared);
    finish(graph);
    return std::move(image_);
  }

 private:
  std::span<const std::unique_ptr<ptx::Module>> check_all(const Target& target) {
    for (const std::unique_ptr<ptx::Module>& module : modules_) {
      const Architecture architecture = check_version(*module, target);
      if (image_->architecture_ == 0) image_->architecture_ = architecture.number;
      image_->ptx_version_ = std::max(image_->ptx_version_, module->version);
    }
    return modules_;
  }

  void make_functions() {
    for (const LinkedFunction& linked : linker_.functions()) {
      auto function = std::make_unique<Function>();
      function->name = linked.source->name;
      function->is_entry = linked.source->is_entry;
      function->image = image_.get();
      image_->functions_.push_back(std::move(function));
    }
  }

  void name_globals() {
    std::size_t constant_bytes = 0;
    for (const LinkedVariable& variable : linker_.variables()) {
      const ptx::Variable& source = *variable.source;
      if (source.space == ptx::Space::constant) constant_bytes += source.size;
      if (source.space == ptx::Space::shared || source.opaque || !variable.is_named) continue;
      image_->globals_.emplace(std::string(source.name),
                               Global{variable.address, source.size, source.managed});
    }
    for (const std::unique_ptr<Function>& function : image_->functions_) {
      function->constant_bytes = static_cast<std::uint32_t>(constant_bytes);
    }
  }

  void collect_files() {
    for (const std::unique_ptr<ptx::Module>& module : modules_) {
      first_files_.push_back(static_cast<std::uint32_t>(image_->files_.size()));
      image_->files_.insert(image_->files_.end(), module->files.begin(), module->files.end());
    }
  }

  void decode_all(const FormTable& forms, const CallGraph& graph, const SharedLayout& shared) {
    Opcodes opcodes(forms);
    ImpliedInstructions implied(forms);
    const LinkedProgram program{linker_,      shared,  image_->functions_,
                                first_files_, opcodes, implied};
    for (std::uint32_t i = 0; i < image_->functions_.size(); ++i) {
      try {
        Decoder(program, i).decode();
      } catch (const LoadError& error) {
        // What no kernel reaches does no harm; a pointer to it is a pointer to no function.
        const std::span<const std::uint32_t> kernels = graph.reaching_function(i);
        if (!kernels.empty() && error.kind() != LoadError::Kind::not_simulated) throw;
        for (const std::uint32_t kernel : kernels) refuse(kernel, i, error.what());
        image_->functions_[i]->code.clear();
      }
    }
    drop_callers(graph);
  }

  /// Rejects a kernel because of a problem that a function it reaches reported.
  void refuse(std::uint32_t kernel, std::uint32_t function, std::string reason) {
    Function& refused = *image_->functions_[kernel];
    if (!refused.refusal.empty()) return;
    if (kernel != function) reason += ", which the kernel '" + refused.name + "' may call";
    refused.refusal = std::move(reason);
  }

  /// Drops functions that call a dropped function.
  void drop_callers(const CallGraph& graph) {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t i = 0; i < image_->functions_.size(); ++i) {
        std::vector<Instruction>& code = image_->functions_[i]->code;
        const bool fails =
            !code.empty() && std::ranges::any_of(graph.callees(i), [this](std::uint32_t callee) {
              return image_->functions_[callee]->code.empty();
            });
        if (!fails) continue;
        code.clear();
        changed = true;
      }
    }
  }

  void finish(const CallGraph& graph) {
    graph.measure_stacks(image_->functions_);
    for (const std::unique_ptr<Function>& function : image_->functions_) {
      if (function->is_entry) image_->entries_.push_back(function.get());
    }
    std::erase_if(image_->functions_, [](const std::unique_ptr<Function>& function) {
      return function->code.empty() && function->refusal.empty();
    });
    std::sort(image_->functions_.begin(), image_->functions_.end(), std::less<>());
    for (std::unique_ptr<ptx::Module>& module : modules_) {
      module->functions = {};
      module->variables = {};
      module->operands = {};
      module->locations = {};
      image_->keeps_.push_back(std::shared_ptr<const void>(std::move(module)));
    }
  }

  std::vector<std::unique_ptr<ptx::Module>> modules_;
  std::shared_ptr<Image> image_;
  ModuleLinker linker_;
  std::vector<std::uint32_t> first_files_;
};

Image::Image() = default;
Image::~Image() = default;

std::shared_ptr<const Image> Image::load(std::span<const std::string_view> texts,
                                         const FormTable& forms, const Target& target,
                                         const Allocate& allocate) {
  return ImageBuilder(texts, target).build(forms, target, allocate);
}

const Function* Image::find_entry(std::string_view name) const noexcept {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [name](const Function* entry) { return entry->name == name; });
  return found == entries_.end() ? nullptr : *found;
}

const Global* Image::find_global(std::string_view name) const noexcept {
  const auto found = globals_.find(name);
  return found == globals_.end() ? nullptr : &found->second;
}

const Function* Image::function_at(std::uint64_t pointer) const noexcept {
  const auto found =
      std::lower_bound(functions_.begin(), functions_.end(), pointer,
                       [](const std::unique_ptr<Function>& function, std::uint64_t value) {
                         return reinterpret_cast<std::uint64_t>(function.get()) < value;
                       });
  if (found == functions_.end()) return nullptr;
  return reinterpret_cast<std::uint64_t>(found->get()) == pointer ? found->get() : nullptr;
}

}  // namespace cudacore::simulator

// SPDX-License-Identifier: Apache-2.0
#include "cudacore/object_code.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <mutex>

#include "cudacore/error.hpp"
#include "cudacore/kernel.hpp"
#include "launch/kernel_box.hpp"
#include "runtime/context_call.hpp"
#include "runtime/library_loading.hpp"
#include "signature/bytes.hpp"
#include "signature/cxx_text.hpp"
#include "signature/fatbin_file.hpp"
#include "signature/kernel_templates.hpp"
#include "signature/variables.hpp"

namespace cudacore {
namespace {

/// The names of the types, in the order of CodeType.
constexpr std::array<std::string_view, 6> type_names = {"ptx",    "cubin",  "ltoir",
                                                        "fatbin", "object", "library"};

const KernelEntry* find_symbol(const std::vector<KernelEntry>& entries, std::string_view symbol) {
  const auto entry = std::find_if(entries.begin(), entries.end(), [&](const KernelEntry& kernel) {
    return kernel.symbol == symbol;
  });
  return entry != entries.end() ? &*entry : nullptr;
}

/// The kernels of a cubin, with what its PTX and other sources know about them.
std::vector<KernelEntry> read_cubin(const std::vector<std::byte>& code,
                                    const ObjectCode::Details& details) {
  std::vector<KernelEntry> entries = kernels_in_cubin(code);
  const std::vector<KernelEntry> from_ptx =
      details.ptx.empty() ? std::vector<KernelEntry>() : kernels_in_ptx(details.ptx);
  for (KernelEntry& entry : entries) {
    for (const auto* known : {&from_ptx, &details.known_kernels}) {
      if (const KernelEntry* better = find_symbol(*known, entry.symbol)) {
        entry.signature = merge(better->signature, entry.signature);
      }
    }
  }
  return entries;
}

}  // namespace

std::string_view to_string(CodeType type) noexcept {
  return type_names[static_cast<std::size_t>(type)];
}

CodeType code_type_from_string(std::string_view name) {
  const auto found = std::find(type_names.begin(), type_names.end(), name);
  if (found != type_names.end()) return static_cast<CodeType>(found - type_names.begin());
  std::string message = "no code type \"" + std::string(name) + "\"; there are";
  std::string_view separator = " \"";
  for (const std::string_view known : type_names) {
    message.append(separator).append(known).append("\"");
    separator = ", \"";
  }
  throw std::invalid_argument(message);
}

struct ObjectCode::State {
  std::vector<std::byte> code;
  CodeType type = CodeType::cubin;
  Details details;
  std::atomic<bool> shares_source{false};

  // Not a once_flag: under the thread sanitizer, waiting for one whose call threw never ends.
  std::mutex kernels_mutex;
  bool kernels_were_read = false;
  std::optional<std::vector<KernelEntry>> kernels;

  std::mutex mutex;  ///< guards everything below
  std::shared_ptr<owner::LibraryBox> library;
  /// By symbol, and by every name that was requested.
  std::map<std::string, std::shared_ptr<launching::KernelBox>, std::less<>> loaded_kernels;

  /// Whether its kernels can be listed without the driver.
  [[nodiscard]] bool is_readable() {
    return type == CodeType::ptx || type == CodeType::cubin || list_kernels() != nullptr;
  }

  /// The kernels; null if only the driver can list them.
  [[nodiscard]] const std::vector<KernelEntry>* list_kernels() {
    const std::lock_guard lock(kernels_mutex);
    if (!kernels_were_read) kernels = read_kernels();
    kernels_were_read = true;
    return kernels ? &*kernels : nullptr;
  }

  /// "cubin \"axpy\"", for messages.
  [[nodiscard]] std::string describe() const {
    return error::with_name(to_string(type), details.name);
  }

  [[nodiscard]] std::string_view ptx() const noexcept {
    return type == CodeType::ptx ? signature::text_of(code) : std::string_view(details.ptx);
  }

  /// The kernels that the bytes tell of.
  [[nodiscard]] std::optional<std::vector<KernelEntry>> read_bytes() const {
    switch (type) {
      case CodeType::ptx:
        if (ptx().starts_with(signature::elf_magic)) {
          throw std::invalid_argument("these bytes look like a cubin: give them to from_cubin()");
        }
        return kernels_in_ptx(ptx());
      case CodeType::cubin:
        return read_cubin(code, details);
      case CodeType::fatbin:
        return signature::kernels_in_fatbin(code);
      default:
        return std::nullopt;
    }
  }

  [[nodiscard]] std::optional<std::vector<KernelEntry>> read_kernels() const {
    auto read = read_code(type, details.name, [&] { return read_bytes(); });
    if (!read) return read;
    std::vector<KernelEntry>& entries = *read;
    if (type != CodeType::cubin) {
      for (KernelEntry& entry : entries) {
        if (const KernelEntry* known = find_symbol(details.known_kernels, entry.symbol)) {
          entry.signature = merge(known->signature, entry.signature);
        }
      }
    }
    if (!details.source.empty()) {
      for (KernelEntry& entry : entries) read_definition(entry.signature, details.source);
    }
    return read;
  }

  /// Whether the template that a name refers to has instances.
  [[nodiscard]] static bool knows_template(const std::vector<KernelEntry>& entries,
                                           std::string_view name) {
    const std::string_view base = signature::unqualified(signature::without_arguments(name));
    return std::any_of(entries.begin(), entries.end(), [&](const KernelEntry& entry) {
      return signature::unqualified(signature::without_arguments(entry.name)) == base;
    });
  }

  /// The entry that a name refers to.
  /// @throw std::invalid_argument that lists the existing kernels.
  [[nodiscard]] const KernelEntry& find(const std::vector<KernelEntry>& entries,
                                        std::string_view name) const {
    if (const auto mapped = details.symbol_mapping.find(std::string(name));
        mapped != details.symbol_mapping.end()) {
      if (const KernelEntry* entry = find_symbol(entries, mapped->second)) return *entry;
    }
    try {
      return entries[find_kernel(entries, name)];
    } catch (const std::invalid_argument& error) {
      const std::string advice = signature::template_advice(details.source, name);
      const bool has_instance = advice.empty() || knows_template(entries, name);
      if (has_instance) throw;  // and the error lists it
      throw std::invalid_argument(error.what() + advice);
    }
  }

  /// The mutex must be held.
  const std::shared_ptr<owner::LibraryBox>& load() {
    if (!library) library = load_library(code, type, details.name, details.ptx);
    return library;
  }

  /// The entry of a kernel in code that only the driver can read; the mutex must be held.
  [[nodiscard]] KernelEntry ask_driver(std::string_view name) {
    const driver::DriverApi& api = driver::api();
    std::vector<KernelEntry> entries;
    for (std::string& symbol : kernel_symbols(api, *load(), details.name)) {
      KernelEntry entry = describe_kernel(std::move(symbol));
      if (const KernelEntry* known = find_symbol(details.known_kernels, entry.symbol)) {
        entry.signature = merge(known->signature, entry.signature);
      }
      entries.push_back(std::move(entry));
    }
    return find(entries, name);
  }

  /// The variables; nothing if only the driver can read the code.
  [[nodiscard]] std::optional<std::vector<signature::VariableEntry>> read_variables() const {
    if (!ptx().empty()) return signature::variables_in_ptx(ptx());
    if (type == CodeType::cubin) return signature::variables_in_cubin(code);
    if (type == CodeType::fatbin) return signature::variables_in_fatbin(code);
    return std::nullopt;
  }

  /// The variable that a name refers to. If the code cannot be read, the name is assumed to be a
  /// symbol.
  [[nodiscard]] signature::VariableEntry find_variable(std::string_view name) const {
    std::string symbol(name);
    bool is_mapped = false;
    for (const std::string& spelling : {std::string(name), "&" + std::string(name)}) {
      const auto mapped = details.symbol_mapping.find(spelling);
      if (is_mapped || mapped == details.symbol_mapping.end()) continue;
      symbol = mapped->second;
      is_mapped = true;
    }
    const auto variables = read_code(type, details.name, [&] { return read_variables(); });
    if (!variables) return {symbol, symbol};
    if (!is_mapped) return signature::find_variable(*variables, name);
    const auto found =
        std::find_if(variables->begin(), variables->end(),
                     [&](const auto& variable) { return variable.symbol == symbol; });
    return found != variables->end() ? *found : signature::VariableEntry{symbol, symbol};
  }

  /// Builds the box of a kernel; the mutex must be held.
  [[nodiscard]] std::shared_ptr<launching::KernelBox> make_kernel(const KernelEntry& entry) {
    const driver::DriverApi& api = driver::api();
    auto box = std::make_shared<launching::KernelBox>();
    box->library = load();
    box->name = entry.name;
    error::check(api.cuLibraryGetKernel(&box->kernel, box->library->library, entry.symbol.c_str()),
                 "cuLibraryGetKernel", "kernel \"" + entry.name + "\" of " + describe());
    Signature signature = entry.signature;
    const std::optional<Signature> measured =
        measured_parameters(api, box->kernel, entry.name,
                            is_readable() ? signature.params.size() : parameter_count(entry));
    if (measured) {
      signature = measured->params.size() == signature.params.size()
                      ? merge(std::move(signature), *measured)
                      : describe_kernel(entry.symbol, measured).signature;
    }
    if (!details.source.empty()) read_definition(signature, details.source);
    const bool known = measured || is_readable() || !signature.params.empty();
    box->set_signature(std::move(signature));
    box->has_signature = known;
    return box;
  }
};

ObjectCode::ObjectCode(std::vector<std::byte> code, CodeType type, Details details)
    : state_(std::make_shared<State>()) {
  if (type == CodeType::ptx) {
    while (!code.empty() && code.back() == std::byte{0}) code.pop_back();
  }
  if (code.empty()) {
    throw std::invalid_argument(error::with_name("object code", details.name) + " is empty");
  }
  state_->code = std::move(code);
  state_->type = type;
  state_->details = std::move(details);
}

const std::vector<std::byte>& ObjectCode::code() const noexcept { return state_->code; }
CodeType ObjectCode::code_type() const noexcept { return state_->type; }
const std::string& ObjectCode::name() const noexcept { return state_->details.name; }

const std::map<std::string, std::string>& ObjectCode::symbol_mapping() const noexcept {
  return state_->details.symbol_mapping;
}

const ObjectCode::Details& ObjectCode::details() const noexcept { return state_->details; }

bool ObjectCode::shares_source() const noexcept {
  return state_->shares_source.load(std::memory_order_relaxed);
}

void ObjectCode::share_source(bool shares) const noexcept {
  state_->shares_source.store(shares, std::memory_order_relaxed);
}

std::string_view ObjectCode::ptx() const noexcept { return state_->ptx(); }

const std::vector<KernelEntry>& ObjectCode::kernels() const {
  if (const auto* kernels = state_->list_kernels()) return *kernels;
  throw NotSupportedError("the kernels in " + state_->describe() +
                          " cannot be listed: only PTX, cubins and fat binaries that are not "
                          "compressed can be read. Link it to a cubin, or ask for a kernel by "
                          "name");
}

Signature ObjectCode::signature(std::string_view name) const {
  return state_->find(kernels(), name).signature;
}

Kernel ObjectCode::get_kernel(std::string_view name) const {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  auto& loaded = state.loaded_kernels;
  if (const auto known = loaded.find(name); known != loaded.end()) return Kernel(known->second);
  // If the code cannot be read at all, load_library() rejects it.
  if (!state.is_readable()) (void)state.load();
  const KernelEntry entry =
      state.is_readable() ? state.find(kernels(), name) : state.ask_driver(name);
  auto& box = loaded[entry.symbol];
  if (!box) {
    try {
      box = state.make_kernel(entry);
    } catch (...) {
      loaded.erase(entry.symbol);
      throw;
    }
  }
  return Kernel(loaded.emplace(name, box).first->second);
}

Buffer ObjectCode::get_global(std::string_view name) const {
  State& state = *state_;
  const signature::VariableEntry variable = state.find_variable(name);
  std::shared_ptr<owner::LibraryBox> library;
  {
    const std::lock_guard lock(state.mutex);
    library = state.load();
  }
  const driver::DriverApi& api = driver::api();
  error::ContextBox& context = *error::current_context();
  error::throw_if_lost(context);
  CUdeviceptr pointer = 0;
  std::size_t size = 0;
  const char* symbol = variable.symbol.c_str();
  const char* function = "cuLibraryGetGlobal";
  CUresult result = variable.is_managed
                        ? CUDA_ERROR_NOT_FOUND
                        : api.cuLibraryGetGlobal(&pointer, &size, library->library, symbol);
  if (result == CUDA_ERROR_NOT_FOUND) {
    function = "cuLibraryGetManaged";
    result = api.cuLibraryGetManaged(&pointer, &size, library->library, symbol);
  }
  if (result == CUDA_ERROR_NOT_FOUND) {
    throw std::invalid_argument("no variable \"" + std::string(name) + "\" in " + state.describe() +
                                "; it may have been optimised away, or need its mangled symbol");
  }
  error::check(result, function, "variable \"" + std::string(name) + "\" of " + state.describe(),
               &context);
  return Buffer::from_handle(pointer, size, nullptr, library);
}

CUlibrary ObjectCode::handle() const {
  const std::lock_guard lock(state_->mutex);
  return state_->load()->library;
}

CUmodule ObjectCode::get_module() const {
  const ContextCall call(error::current_context());
  CUmodule module = nullptr;
  call.check(call.api().cuLibraryGetModule(&module, handle()), "cuLibraryGetModule",
             error::with_name(to_string(code_type()), name()));
  return module;
}

}  // namespace cudacore

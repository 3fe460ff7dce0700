// SPDX-License-Identifier: Apache-2.0
#include "cudacore/kernel.hpp"

#include "cudacore/launch.hpp"
#include "launch/kernel_box.hpp"
#include "runtime/context_call.hpp"
#include "runtime/library_loading.hpp"

namespace cudacore {
namespace {

bool is_settable(KernelAttribute attribute) {
  return attribute >= KernelAttribute::max_dynamic_shared_size_bytes &&
         attribute <= KernelAttribute::cluster_scheduling_policy_preference &&
         attribute != KernelAttribute::cluster_size_must_be_set;
}

std::string counted(std::size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// @throw std::invalid_argument if a declared signature contradicts the known parameters.
void require_agreement(const launching::KernelBox& kernel, const Signature& declared,
                       const Signature& known) {
  if (declared.params.size() != known.params.size()) {
    throw std::invalid_argument(kernel.name + " has " + counted(known.params.size(), "parameter") +
                                ", but the declared signature has " +
                                std::to_string(declared.params.size()));
  }
  for (std::size_t i = 0; i < known.params.size(); ++i) {
    const Param& ours = known.params[i];
    const Param& theirs = declared.params[i];
    if (ours.size == 0 || theirs.size == 0 || ours.size == theirs.size) continue;
    throw std::invalid_argument(kernel.name + ": parameter " + std::to_string(i + 1) + " has " +
                                counted(ours.size, "byte") + ", but the declared " + theirs.type +
                                " has " + std::to_string(theirs.size));
  }
}

/// What a kernel that is known by its handle alone keeps.
struct OwnerAndLibrary {
  std::shared_ptr<void> owner;
  std::shared_ptr<owner::LibraryBox> library;  ///< that contains it; null if others loaded it
};

std::shared_ptr<owner::LibraryBox> library_of(const driver::DriverApi& api, CUkernel kernel) {
  CUlibrary library = nullptr;
  const bool is_told =
      api.cuKernelGetLibrary != nullptr && api.cuKernelGetLibrary(&library, kernel) == CUDA_SUCCESS;
  return is_told ? loaded_library(library) : nullptr;
}

}  // namespace

CUlibrary Kernel::library() const {
  const driver::DriverApi& api = driver::api();
  CUlibrary library = nullptr;
  if (api.cuKernelGetLibrary != nullptr) {
    error::check(api.cuKernelGetLibrary(&library, box_->kernel), "cuKernelGetLibrary",
                 "kernel " + name());
  }
  return library;
}

Kernel Kernel::from_handle(CUkernel handle, std::shared_ptr<void> owner) {
  if (handle == nullptr) throw std::invalid_argument("Kernel.from_handle: the handle is null");
  const driver::DriverApi& api = driver::api();
  auto box = std::make_shared<launching::KernelBox>();
  box->library = std::make_shared<owner::LibraryBox>();
  box->library->owner = std::move(owner);
  box->kernel = handle;
  const std::string place = error::format_address(handle);
  if (api.cuKernelGetName == nullptr) {
    box->name = "kernel " + place;
    if (auto measured = measured_parameters(api, handle, place, std::nullopt)) {
      box->set_signature(*std::move(measured));
    }
    return Kernel(std::move(box));
  }
  const char* symbol = nullptr;
  error::check(api.cuKernelGetName(&symbol, handle), "cuKernelGetName", "kernel " + place);
  if (auto library = library_of(api, handle)) {
    std::shared_ptr<void>& kept = box->library->owner;
    kept = std::make_shared<OwnerAndLibrary>(OwnerAndLibrary{std::move(kept), std::move(library)});
  }
  std::optional<Signature> measured =
      measured_parameters(api, handle, symbol, parameter_count(describe_kernel(symbol)));
  const bool is_measured = measured.has_value();
  KernelEntry entry = describe_kernel(symbol, std::move(measured));
  box->name = entry.name;
  // An unmangled name says nothing about parameters, not even that there are none.
  const bool is_known = is_measured || !entry.signature.params.empty();
  if (is_known && entry.signature.complete()) box->set_signature(std::move(entry.signature));
  return Kernel(std::move(box));
}

CUkernel Kernel::handle() const noexcept { return box_->kernel; }
const std::string& Kernel::name() const noexcept { return box_->name; }
const Signature& Kernel::signature() const noexcept { return box_->signature; }

Kernel Kernel::with_signature(const Signature& signature) const {
  Signature known = box_->signature;
  bool is_known = box_->has_signature;
  const auto count = is_known ? std::optional(known.params.size()) : std::nullopt;
  if (auto measured = measured_parameters(driver::api(), box_->kernel, name(), count)) {
    known = is_known ? merge(std::move(known), *measured) : *std::move(measured);
    is_known = true;
  }
  Signature merged = signature;
  if (is_known) {
    require_agreement(*box_, signature, known);
    merged = merge(std::move(merged), known);
  }
  merged.kernel = box_->name;
  for (std::size_t i = 0; i < merged.params.size(); ++i) {
    if (merged.params[i].size != 0) continue;
    throw std::invalid_argument(box_->name + ": the size of parameter " + std::to_string(i + 1) +
                                " (" + merged.params[i].type + ") is unknown");
  }
  auto box = std::make_shared<launching::KernelBox>();
  box->library = box_->library;
  box->kernel = box_->kernel;
  box->name = box_->name;
  box->set_signature(std::move(merged));
  return Kernel(std::move(box));
}

int Kernel::attribute(KernelAttribute attribute, Device device) const {
  const ContextCall call(error::primary_context(device.id()));
  int value = 0;
  call.check(call.api().cuKernelGetAttribute(&value, static_cast<CUfunction_attribute>(attribute),
                                             box_->kernel, device.id()),
             "cuKernelGetAttribute", [&] { return box_->describe_on(device.id()); });
  return value;
}

void Kernel::set_attribute(KernelAttribute attribute, int value, Device device) const {
  if (!is_settable(attribute)) {
    throw std::invalid_argument("attribute " + std::to_string(static_cast<int>(attribute)) +
                                " of a kernel can be read, not set");
  }
  const ContextCall call(error::primary_context(device.id()));
  // Resolved first, so that the limit kept there is the one that is set here.
  launching::KernelOnDevice& state = box_->on(*call.context());
  call.check(call.api().cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value,
                                             box_->kernel, device.id()),
             "cuKernelSetAttribute", [&] {
               return box_->describe_on(device.id()) + ", attribute " +
                      std::to_string(static_cast<int>(attribute)) + " to " + std::to_string(value);
             });
  if (attribute == KernelAttribute::max_dynamic_shared_size_bytes && value >= 0) {
    state.dynamic_shmem.store(static_cast<std::size_t>(value), std::memory_order_relaxed);
  }
}

}  // namespace cudacore

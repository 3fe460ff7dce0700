// SPDX-License-Identifier: Apache-2.0
#include "owner/graphics_boxes.hpp"

#include <exception>
#include <optional>
#include <utility>

#include "error/unraisable.hpp"
#include "owner/callback.hpp"
#include "owner/end_scope.hpp"

namespace cudacore::owner {
namespace {

/// Calls a function of the driver's in a context, unless that has ended.
template <typename Call>
void call_at_end(const std::shared_ptr<error::ContextBox>& context, const char* function,
                 const Call& call) noexcept {
  const driver::DriverApi* api = driver::api_for_cleanup();
  if (api == nullptr || !error::is_alive(*api, *context)) return;
  const EndScope ending(*api);
  std::optional<error::ContextScope> scope;
  try {
    scope.emplace(*api, *context);
  } catch (const std::exception&) {  // the driver knows where the resource belongs
  }
  const CUresult result = call(*api);
  if (result != CUDA_SUCCESS) error::report_unraisable(result, function);
}

}  // namespace

GraphicsBox::~GraphicsBox() {
  if (resource == nullptr) return;
  end_outside_callbacks([ended = resource, of = std::move(context)] {
    call_at_end(of, "cuGraphicsUnregisterResource", [&](const driver::DriverApi& api) {
      return api.cuGraphicsUnregisterResource(ended);
    });
  });
}

GraphicsMapping::~GraphicsMapping() {
  if (!is_mapped) return;
  end_outside_callbacks([mapped = std::move(graphics), on = std::move(stream)] {
    call_at_end(mapped->context, "cuGraphicsUnmapResources", [&](const driver::DriverApi& api) {
      return api.cuGraphicsUnmapResources(1, &mapped->resource, on->stream);
    });
  });
}

}  // namespace cudacore::owner

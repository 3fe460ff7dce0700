// SPDX-License-Identifier: Apache-2.0
#include "owner/texture_boxes.hpp"

#include <chrono>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "driver/blocking.hpp"
#include "error/unraisable.hpp"
#include "owner/callback.hpp"
#include "owner/captures.hpp"

namespace cudacore::owner {
namespace {

/// Calls `end`, which may wait for all work, once no capture is going on: the wait would end it.
template <typename End>
void end_after_captures(const End& end) {
  if (!any_capture()) return end();
  end_elsewhere([end] {
    constexpr std::chrono::milliseconds pause(10);
    std::this_thread::sleep_for(pause);
    end_after_captures(end);
  });
}

/// Ends a box that has a handle, unless its context has ended; `kept` lives until then.
template <typename Handle>
void end(UsedByWork& box, CUresult (*driver::DriverApi::*function)(Handle), const char* name,
         Handle handle, std::shared_ptr<void> kept = nullptr) noexcept {
  const bool waits = box.is_waited_for();
  const auto run = [function, name, handle, waits, context = std::move(box.context),
                    kept = std::move(kept)] {
    const driver::DriverApi* api = driver::api_for_cleanup();
    if (api == nullptr || !error::is_alive(*api, *context)) return;
    const driver::BlockingScope blocking;
    std::optional<error::ContextScope> scope;
    try {
      scope.emplace(*api, *context);
    } catch (const std::exception&) {  // the driver knows where the handle belongs
    }
    if (waits && scope) {
      const CUresult finished = api->cuCtxSynchronize();
      if (finished != CUDA_SUCCESS) error::report_unraisable(finished, "cuCtxSynchronize");
    }
    const CUresult result = (api->*function)(handle);
    if (result != CUDA_SUCCESS) error::report_unraisable(result, name);
  };
  if (in_callback()) {
    end_elsewhere([run] { end_after_captures(run); });
  } else if (waits) {
    end_after_captures(run);
  } else {
    run();
  }
}

}  // namespace

bool UsedByWork::is_waited_for() const noexcept {
  return owner == nullptr && may_be_in_use.load(std::memory_order_relaxed);
}

MipmapBox::~MipmapBox() {
  if (array == nullptr || owner != nullptr) return;
  end(*this, &driver::DriverApi::cuMipmappedArrayDestroy, "cuMipmappedArrayDestroy", array);
}

ArrayBox::~ArrayBox() {
  if (array == nullptr || mipmap != nullptr || owner != nullptr) return;
  end(*this, &driver::DriverApi::cuArrayDestroy, "cuArrayDestroy", array);
}

TextureBox::~TextureBox() {
  if (texture == 0) return;
  end(*this, &driver::DriverApi::cuTexObjectDestroy, "cuTexObjectDestroy", texture,
      std::move(memory));
}

SurfaceBox::~SurfaceBox() {
  if (surface == 0) return;
  end(*this, &driver::DriverApi::cuSurfObjectDestroy, "cuSurfObjectDestroy", surface,
      std::move(array));
}

}  // namespace cudacore::owner

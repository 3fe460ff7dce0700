// SPDX-License-Identifier: Apache-2.0
#include "owner/user_object.hpp"

#include <utility>

#include "driver/process.hpp"
#include "error/check.hpp"
#include "owner/callback.hpp"

namespace cudacore::owner {

namespace {

using Share = std::shared_ptr<Kept>;

void CUDA_CB drop(void* argument) noexcept {
  if (driver::is_forked_child() || driver::is_exiting()) return;
  end_elsewhere(
      [share = static_cast<Share*>(argument)] { const std::unique_ptr<Share> dropped(share); });
}

}  // namespace

void keep_in(const driver::DriverApi& api, CUgraph graph, std::shared_ptr<Kept> kept) {
  auto share = std::make_unique<Share>(std::move(kept));
  CUuserObject object = nullptr;
  error::check(
      api.cuUserObjectCreate(&object, share.get(), drop, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
      "cuUserObjectCreate");
  (void)share.release();  // the driver calls drop()
  const CUresult result = api.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
  if (result != CUDA_SUCCESS) {
    (void)api.cuUserObjectRelease(object, 1);
    error::throw_driver_error(result, "cuGraphRetainUserObject", {}, nullptr);
  }
}

}  // namespace cudacore::owner

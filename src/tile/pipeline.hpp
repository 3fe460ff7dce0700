// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "tile/kernel.hpp"
#include "tile/matrix_product.hpp"

namespace cudacore::tile {

/// Operations of the pipeline.
///
/// `pipeline lo, hi, step : shared` region: stands before a `for`. The region's argument is the
/// loop's variable; it computes addresses and has `fetch` operations, which copy tiles to a slot of
/// the ring. The result is the ring's memory. Attribute `ring` is the number of the loop, `slots`
/// and `slot_bytes` say how the memory is divided.
/// `arrive lo, hi, step, i, ring`: begins an iteration, that of the loop's variable `i`. Waits for
/// its slot, and fetches for an iteration to come.
/// `staged ring : shared`: a tile in the slot of this iteration.
/// `product_ahead a, b, c`: loads the first fragments for a loop, see load_products_ahead().
/// `thread_again`: after a loop short of registers; what follows from the thread's number is
/// computed again.
/// `stage_once p, origin, shape, strides : shared`: a tile that a loop uses again and again,
/// fetched before it.

/// Has loads that feed mma in a `for` copied to shared memory ahead of the iterations that need
/// them. `warps` is the number of warps of a block; the mma are marked already (see
/// MatrixLowering).
void pipeline_loops(Kernel& kernel, int architecture, int warps);

/// Sets how many slots the rings have: as many as fit and help. `limit`: bytes of shared memory of
/// a block; `other`: what else of it the kernel needs. One slot at least: allocate_shared() throws
/// if that is too much.
void size_rings(Kernel& kernel, std::int64_t limit, std::int64_t other, std::int64_t blocks);

/// Whether a product may load its fragments of the next iteration: one that fills the registers of
/// a block alone on its multiprocessor, from stages that ldmatrix reads.
[[nodiscard]] bool may_load_ahead(const Operation& mma, const MatrixProduct& product);

/// Has the only product of a loop that does nothing else load its first fragments of each iteration
/// in the one before: puts a `product_ahead` before the loop, and gives the mma the loop's variable
/// as its fourth operand. `product` tells how warps share an mma.
void load_products_ahead(Region& region,
                         const std::function<MatrixProduct(const Operation& mma)>& product);

}  // namespace cudacore::tile

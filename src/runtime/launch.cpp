// SPDX-License-Identifier: Apache-2.0
#include "cudacore/launch.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "cudacore/error.hpp"
#include "error/context_box.hpp"
#include "launch/kernel_box.hpp"
#include "owner/owned_handles.hpp"
#include "runtime/argument_errors.hpp"
#include "runtime/context_call.hpp"
#include "runtime/launch_path.hpp"
#include "runtime/pack_argument.hpp"

namespace cudacore {

namespace {

/// Stack storage for the usual case; the heap for larger sizes.
template <typename T, std::size_t Count>
class Scratch {
 public:
  explicit Scratch(std::size_t count) {
    if (count <= Count) return;
    more_.resize(count);
    data_ = more_.data();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] T* data() noexcept { return data_; }

 private:
  alignas(16) std::array<T, Count> few_;
  std::vector<T> more_;
  T* data_ = few_.data();
};

constexpr std::size_t stack_bytes = 4096;
constexpr std::size_t stack_arguments = 128;

}  // namespace

void launch_packed(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                   void** arguments) {
  const handle::StreamBox& queue = require_open(stream.box(), "Stream");
  handle::KernelBox& box = *kernel.box();
  handle::ContextBox& context = *queue.work_context();
  const CUresult result = enqueue(driver::api(), queue, context, box, config, arguments);
  if (result != CUDA_SUCCESS) [[unlikely]]
    throw_launch_error(result, queue, context, box, config);
}

void launch_arguments(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                      std::span<const Argument> arguments) {
  const handle::KernelBox& box = *kernel.box();
  Scratch<void*, stack_arguments> pointers(arguments.size());
  if (!box.has_signature) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      require_exact(box, i, arguments[i]);
      pointers.data()[i] = const_cast<void*>(arguments[i].data());
    }
    launch_packed(stream, config, kernel, pointers.data());
    return;
  }
  if (arguments.size() != box.slots.size()) {
    throw TypeMismatchError(count_message(box, arguments.size()));
  }
  Scratch<unsigned char, stack_bytes> bytes(box.parameter_bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    unsigned char* destination = bytes.data() + box.slots[i].offset;
    pack_argument(box, i, arguments[i], destination);
    pointers.data()[i] = destination;
  }
  launch_packed(stream, config, kernel, pointers.data());
}

}  // namespace cudacore

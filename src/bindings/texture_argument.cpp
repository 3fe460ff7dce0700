// SPDX-License-Identifier: Apache-2.0
#include "bindings/texture_argument.hpp"

#include "bindings/argument.hpp"
#include "bindings/recorder.hpp"
#include "bindings/texture_objects.hpp"
#include "error/check.hpp"
#include "launch/argument_errors.hpp"
#include "launch/packing.hpp"
#include "owner/texture_boxes.hpp"

namespace cudacore::bindings {
namespace {

using launching::KernelBox;
using launching::PackResult;
using launching::Slot;

/// The handle of a texture or of a surface. `box` is its owner, null if it is closed.
template <typename Box>
void pack_reader(const KernelBox& kernel, std::size_t index, const Slot& slot, const char* name,
                 const std::shared_ptr<Box>& box, CUtexObject handle, PyObject* object,
                 LaunchArrays& arrays, unsigned char* destination) {
  const int device = arrays.device();
  if (box == nullptr) {
    throw std::invalid_argument(mismatch_message(kernel, index, std::string("a closed ") + name));
  }
  error::throw_if_lost(*box->context);
  if (box->context->device != device) {
    mismatch(kernel, index, object,
             "it is for device " + std::to_string(box->context->device) +
                 ", and the launch is on device " + std::to_string(device));
  }
  const PackResult result =
      launching::pack_exact(slot, ParamKind::uint, sizeof(handle), &handle, destination);
  if (slot.kind == ParamKind::pointer || result != PackResult::ok) {
    mismatch(kernel, index, object,
             "declare the parameter as cudaTextureObject_t or cudaSurfaceObject_t, which are "
             "unsigned long long");
  }
  arrays.keep_used(box);
}

void pack_texture(const KernelBox& kernel, std::size_t index, const Slot& slot,
                  const PyTexture& given_texture, PyObject* object, LaunchArrays& arrays,
                  unsigned char* destination) {
  const std::shared_ptr<owner::TextureBox>& box = given_texture.texture.box();
  const Recorder* recorder = Recorder::active();
  if (recorder != nullptr && box != nullptr && recorder->is_stand_in_address(box->address)) {
    throw NotSupportedError(
        mismatch_message(kernel, index, "a TextureObject of an argument") +
        " that is recorded, because the address in it cannot be replaced; make the texture "
        "outside, and pass that");
  }
  pack_reader(kernel, index, slot, "TextureObject", box, box != nullptr ? box->texture : 0, object,
              arrays, destination);
}

void pack_surface(const KernelBox& kernel, std::size_t index, const Slot& slot,
                  const PySurface& given_surface, PyObject* object, LaunchArrays& arrays,
                  unsigned char* destination) {
  const std::shared_ptr<owner::SurfaceBox>& box = given_surface.surface.box();
  pack_reader(kernel, index, slot, "SurfaceObject", box, box != nullptr ? box->surface : 0, object,
              arrays, destination);
}

}  // namespace

bool is_texture_argument(PyObject* object) noexcept {
  return get_if<PyTexture>(object) != nullptr || get_if<PySurface>(object) != nullptr;
}

bool pack_texture_argument(const KernelBox& kernel, std::size_t index, const Slot& slot,
                           PyObject* object, LaunchArrays& arrays, unsigned char* destination) {
  if (const auto* texture = get_if<PyTexture>(object)) {
    pack_texture(kernel, index, slot, *texture, object, arrays, destination);
    return true;
  }
  if (const auto* surface = get_if<PySurface>(object)) {
    pack_surface(kernel, index, slot, *surface, object, arrays, destination);
    return true;
  }
  if (get_if<OpaqueArray>(object) != nullptr || get_if<MipmappedArray>(object) != nullptr) {
    mismatch(kernel, index, object,
             "it has no address; pass a TextureObject or a SurfaceObject of it");
  }
  return false;
}

}  // namespace cudacore::bindings

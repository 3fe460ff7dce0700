// SPDX-License-Identifier: Apache-2.0
#include "cudacore/argument.hpp"

#include <cstdio>
#include <stdexcept>

#include "cudacore/error.hpp"
#include "launch/argument_errors.hpp"
#include "launch/packed_arguments.hpp"

namespace cudacore {

Argument::Argument(const Buffer& buffer) : form_(Form::pointer) {
  const owner::BufferBox* box = buffer.box().get();
  if (box == nullptr) throw std::invalid_argument("a closed Buffer cannot be an argument");
  box->throw_if_stale();
  std::memcpy(value_, &box->pointer, sizeof(box->pointer));
}

}  // namespace cudacore

namespace cudacore::launching {
namespace {

using Form = Argument::Form;

template <typename T>
T value_of(const Argument& argument) {
  T value{};
  std::memcpy(&value, argument.data(), sizeof(value));
  return value;
}

std::string scalar_name(ParamKind kind, std::size_t size) {
  if (kind == ParamKind::boolean) return "bool";
  if (kind == ParamKind::float32) return "float";
  if (kind == ParamKind::float64) return "double";
  const bool is_unsigned = kind == ParamKind::uint;
  if (!is_unsigned && kind != ParamKind::sint) return "value of " + std::to_string(size) + " bytes";
  if (size == 1) return is_unsigned ? "unsigned char" : "signed char";
  const char* const plain = size == 2 ? "short" : size == 4 ? "int" : "long";
  return (is_unsigned ? "unsigned " : "") + std::string(plain);
}

std::string describe(const Argument& argument) {
  const Form form = argument.form();
  if (form == Form::bytes) return "a struct of " + std::to_string(argument.size()) + " bytes";
  if (form == Form::pointer && argument.size() == 0) return "a pointer";
  if (form == Form::exact || form == Form::pointer) {
    const std::string name = scalar_name(argument.kind(), argument.size());
    return (name[0] == 'i' || name[0] == 'u' ? "an " : "a ") + name +
           (form == Form::pointer ? "*" : "");
  }
  return form == Form::weak_bool      ? "a bool"
         : form == Form::weak_float   ? "a floating-point number"
         : form == Form::weak_complex ? "a complex number"
         : form == Form::null         ? "a null pointer"
                                      : "an integer";
}

std::string real_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.17g", value);
  return text.data();
}

std::string value_text(const Argument& argument) {
  switch (argument.form()) {
    case Form::weak_int:
      return std::to_string(value_of<std::int64_t>(argument));
    case Form::weak_uint:
      return std::to_string(value_of<std::uint64_t>(argument));
    case Form::weak_float:
      return real_text(value_of<double>(argument));
    case Form::weak_complex: {
      const auto value = value_of<std::complex<double>>(argument);
      return real_text(value.real()) + " + " + real_text(value.imag()) + "i";
    }
    default:
      return describe(argument);
  }
}

bool is_known(ParamKind kind) {
  return kind != ParamKind::opaque && kind != ParamKind::void_type && kind != ParamKind::structure;
}

bool is_integer(ParamKind kind) {
  return kind == ParamKind::integer || kind == ParamKind::sint || kind == ParamKind::uint;
}

/// Whether a typed pointer fits a parameter, as far as both element types are known.
bool element_fits(const Param& param, const Argument& argument) {
  if (!is_known(param.pointee) || !is_known(argument.kind())) return true;
  if (param.pointee_size != 0 && param.pointee_size != argument.size()) return false;
  const bool unknown_sign = param.pointee == ParamKind::integer && is_integer(argument.kind());
  return param.pointee == argument.kind() || unknown_sign;
}

PackResult pack(const KernelBox& kernel, std::size_t index, const Slot& slot,
                const Argument& argument, unsigned char* destination) {
  switch (argument.form()) {
    case Form::weak_bool:
      return pack_boolean(slot, value_of<bool>(argument), destination);
    case Form::weak_int: {
      const auto value = value_of<std::int64_t>(argument);
      return pack_integer(slot, static_cast<std::uint64_t>(value), value < 0, destination);
    }
    case Form::weak_uint:
      return pack_integer(slot, value_of<std::uint64_t>(argument), false, destination);
    case Form::weak_float:
      return pack_real(slot, value_of<double>(argument), destination);
    case Form::weak_complex: {
      const auto value = value_of<std::complex<double>>(argument);
      return pack_complex(slot, value.real(), value.imag(), destination);
    }
    case Form::exact:
      return pack_exact(slot, argument.kind(), argument.size(), argument.data(), destination);
    case Form::pointer:
      if (kernel.has_signature && !element_fits(kernel.signature.params[index], argument)) {
        return PackResult::mismatch;
      }
      return pack_pointer(slot, value_of<std::uint64_t>(argument), destination);
    case Form::null:
      return pack_pointer(slot, 0, destination);
    case Form::bytes:
      return pack_bytes(slot, argument.data(), argument.size(), destination);
  }
  return PackResult::mismatch;
}

}  // namespace

void pack_argument(const KernelBox& kernel, std::size_t index, const Slot& slot,
                   const Argument& argument, void* place) {
  switch (pack(kernel, index, slot, argument, static_cast<unsigned char*>(place))) {
    case PackResult::ok:
      return;
    case PackResult::overflow:
      throw std::overflow_error(overflow_message(kernel, index, value_text(argument)));
    case PackResult::mismatch:
      throw TypeMismatchError(mismatch_message(kernel, index, describe(argument)));
  }
}

Param exact_param(const KernelBox& kernel, std::size_t index, const Argument& argument) {
  switch (argument.form()) {
    case Form::exact:
      return make_param(argument.kind(), argument.size());
    case Form::bytes:
      return make_param(ParamKind::structure, argument.size());
    case Form::pointer:
    case Form::null:
      return make_param(ParamKind::pointer, sizeof(std::uint64_t));
    default:
      throw TypeMismatchError(unknown_signature_message(kernel, index, describe(argument)));
  }
}

}  // namespace cudacore::launching

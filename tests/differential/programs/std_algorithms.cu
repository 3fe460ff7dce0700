// SPDX-License-Identifier: Apache-2.0
// cuda::std's bits, algorithms, numbers and complex functions.
#include <cuda/std/algorithm>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/cstring>
#include <cuda/std/numeric>
#include <cuda/std/span>

namespace cs = cuda::std;

template <class T>
__global__ void bits(const T* in, int* out) {
  const int i = threadIdx.x;
  const T value = in[i];
  int* mine = out + i * 8;
  mine[0] = cs::popcount(value);
  mine[1] = cs::countl_zero(value);
  mine[2] = cs::countr_zero(value);
  mine[3] = cs::countl_one(value);
  mine[4] = cs::countr_one(value);
  mine[5] = cs::bit_width(value) + 100 * cs::has_single_bit(value);
  mine[6] = static_cast<int>(cs::rotl(value, i % 37) ^ cs::rotr(value, i % 11));
  mine[7] = static_cast<int>(cs::bit_floor(value)) ^
            static_cast<int>(cs::bit_ceil(static_cast<T>(value >> 1)));
}

__global__ void algorithms(const int* in, int* out) {
  const int i = threadIdx.x;
  cs::array<int, 12> values;
  for (int k = 0; k < 12; ++k) values[k] = in[(i * 5 + k * 13) % 128] % 1000;
  int* mine = out + i * 10;
  mine[0] = *cs::max_element(values.begin(), values.end());
  mine[1] = static_cast<int>(
      cs::count_if(values.begin(), values.end(), [](int value) { return value > 0; }));
  cs::make_heap(values.begin(), values.end());
  cs::sort_heap(values.begin(), values.end());
  mine[2] = values[5];
  mine[3] = static_cast<int>(cs::lower_bound(values.begin(), values.end(), 10) - values.begin());
  cs::reverse(values.begin(), values.begin() + 7);
  mine[4] = values[0];
  cs::rotate(values.begin(), values.begin() + i % 12, values.end());
  mine[5] = values[1];
  mine[6] = static_cast<int>(
      cs::partition(values.begin(), values.end(), [](int value) { return value % 2 == 0; }) -
      values.begin());
  cs::make_heap(values.begin(), values.end());
  cs::pop_heap(values.begin(), values.end());
  mine[7] = values[0];
  mine[8] = cs::gcd(values[2], values[3]) + cs::lcm(values[4] % 50, 12) + cs::midpoint(3, i);
  mine[9] = cs::clamp(values[9], -100, 100) + cs::is_sorted(values.begin(), values.end());
}

template <class T>
__global__ void complex_arithmetic(const cs::complex<T>* in, cs::complex<T>* out) {
  const int i = threadIdx.x;
  const cs::complex<T> a = in[i];
  const cs::complex<T> b = in[128 + i];
  out[i] = a + b;
  out[128 + i] = a * b;
  out[256 + i] = a / b;
  out[384 + i] = cs::conj(a) - b * T(2);
  out[512 + i] = {cs::norm(a), cs::real(b)};
}

template <class T>
__global__ void complex_functions(const cs::complex<T>* in, cs::complex<T>* out) {
  const int i = threadIdx.x;
  const cs::complex<T> a = in[i];
  const cs::complex<T> b = in[128 + i];
  out[i] = cs::sqrt(a);
  out[128 + i] = cs::exp(a);
  out[256 + i] = cs::log(a);
  out[384 + i] = {cs::abs(a), cs::arg(a)};
  out[512 + i] = cs::sin(a);
  out[640 + i] = cs::tanh(a);
  out[768 + i] = cs::pow(a, b);
  out[896 + i] = cs::acos(a);
  out[1024 + i] = cs::polar(cs::abs(a), cs::real(b));
}

__global__ void memory(const unsigned char* in, unsigned char* out) {
  const int i = threadIdx.x;
  cs::array<unsigned char, 24> bytes;
  cs::memcpy(bytes.data(), in + i * 3, 24);
  cs::memmove(bytes.data() + 1, bytes.data(), 11);
  cs::memset(bytes.data() + 20, i, 3);
  for (int k = 0; k < 24; ++k) out[i * 24 + k] = bytes[k];
  out[128 * 24 + i] = cs::memcmp(bytes.data(), in + i, 5) < 0;
  const float value = cs::bit_cast<float>(0x3F800000 + i);
  out[128 * 25 + i] = static_cast<unsigned char>(cs::bit_cast<unsigned>(value * 2.0f) >> 3);
}

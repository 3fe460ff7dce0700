// SPDX-License-Identifier: Apache-2.0
// cuda::std's vocabulary types.
#include <cuda/std/array>
#include <cuda/std/bitset>
#include <cuda/std/chrono>
#include <cuda/std/expected>
#include <cuda/std/functional>
#include <cuda/std/initializer_list>
#include <cuda/std/inplace_vector>
#include <cuda/std/iterator>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/string_view>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/variant>

namespace cs = cuda::std;

__device__ cs::optional<int> half_of(int value) {
  if (value % 2 != 0) return cs::nullopt;
  return value / 2;
}

__device__ cs::expected<int, short> divide(int a, int b) {
  if (b == 0) return cs::unexpected<short>(-7);
  return a / b;
}

__global__ void optionals(const int* in, int* out) {
  const int i = threadIdx.x;
  cs::optional<int> value = half_of(in[i] & 0xFFFF);
  out[i] = value.value_or(-1);
  if (value) value.emplace(*value + 1);
  cs::optional<int> other = value;
  value.reset();
  out[128 + i] = other.has_value() * 2 + value.has_value() + (other > value) * 4;
  const auto quotient = divide(in[i], in[i] % 3);
  out[256 + i] = quotient ? *quotient : quotient.error();
  out[384 + i] = quotient.value_or(99);
}

struct Visitor {
  __device__ int operator()(int value) const { return value ^ 0x55; }
  __device__ int operator()(float value) const { return static_cast<int>(value * 4); }
  __device__ int operator()(const cs::pair<short, char>& value) const {
    return value.first * 3 + value.second;
  }
};

__global__ void variants(const int* in, int* out) {
  const int i = threadIdx.x;
  cs::variant<int, float, cs::pair<short, char>> value = in[i];
  if (i % 3 == 1) value = static_cast<float>(in[i] % 1000) * 0.5f;
  if (i % 3 == 2) value = cs::pair<short, char>(in[i] % 100, 7);
  out[i] = cs::visit(Visitor{}, value);
  out[128 + i] = static_cast<int>(value.index());
  const float* held = cs::get_if<float>(&value);
  out[256 + i] = held != nullptr ? static_cast<int>(*held) : -1;
  auto copy = value;
  copy = 3;
  cs::swap(copy, value);
  out[384 + i] = cs::get<int>(value) + cs::holds_alternative<int>(copy);
}

__global__ void tuples(const int* in, int* out) {
  const int i = threadIdx.x;
  const cs::tuple<int, short, double> values(in[i], in[i] % 50, in[i] * 0.25);
  const auto [a, b, c] = values;
  out[i] = a + b + static_cast<int>(c);
  const auto more = cs::tuple_cat(values, cs::make_tuple(i, 'x'));
  out[128 + i] = cs::apply([](auto... each) { return (static_cast<int>(each) ^ ...); }, more);
  out[256 + i] = cs::make_tuple(in[i], i) < cs::make_tuple(in[i ^ 1], 5);
  int x, y;
  cs::tie(x, y) = cs::make_pair(in[i], i);
  out[384 + i] = x - y;
}

__global__ void containers(const int* in, int* out) {
  const int i = threadIdx.x;
  cs::array<int, 8> values{};
  for (int k = 0; k < 8; ++k) values[k] = in[(i + k * 17) % 128] >> 3;
  const cs::span<int> all(values);
  out[i] = cs::accumulate(all.begin(), all.end(), 0, cs::bit_xor<>{});
  int sum = 0;
  for (const int value : all.subspan(2, 4)) sum += value;
  out[128 + i] = sum + static_cast<int>(all.first(3).size());
  out[256 + i] = cs::inner_product(values.begin(), values.end(), all.rbegin(), 1);
  cs::inplace_vector<int, 6> some;
  for (const int value : values) {
    if (value % 2 == 0 && some.size() < some.capacity()) some.push_back(value);
  }
  out[384 + i] = some.empty() ? -1 : some.back() + static_cast<int>(some.size());
  cs::partial_sum(values.begin(), values.end(), values.begin());
  out[512 + i] = values.back();
  const cs::string_view text = "a device has no console";
  out[640 + i] = static_cast<int>(text.find("no") + text.substr(2, i % 5 + 1).size());
}

__global__ void bitsets(const int* in, int* out) {
  const int i = threadIdx.x;
  cs::bitset<70> bits(static_cast<unsigned>(in[i]));
  bits <<= i % 40;
  bits.flip(69);
  bits ^= cs::bitset<70>(0x0F0F0F0Full);
  out[i] = static_cast<int>(bits.count());
  out[128 + i] = bits.test(13) + 2 * bits.any() + 4 * bits.all() + 8 * bits[69];
}

__global__ void chrono(const int* in, int* out) {
  using namespace cs::chrono;
  const int i = threadIdx.x;
  const seconds time(in[i] & 0x3FFFFFFF);
  const hh_mm_ss<seconds> clock(time % hours(24));
  out[i] = static_cast<int>(clock.hours().count() * 10000 + clock.minutes().count() * 100 +
                            clock.seconds().count());
  const year_month_day date(sys_days(duration_cast<days>(time)));
  out[128 + i] = static_cast<int>(date.year()) * 10000 +
                 static_cast<int>(static_cast<unsigned>(date.month()) * 100 +
                                  static_cast<unsigned>(date.day()));
  out[256 + i] = static_cast<int>(duration_cast<minutes>(milliseconds(in[i])).count());
  out[384 + i] = static_cast<int>(floor<hours>(time).count());
}

__global__ void mdspans(const int* in, int* out) {
  using Fixed = cs::extents<int, 8, 16>;
  using Free = cs::dextents<int, 3>;
  const cs::mdspan<const int, Fixed> rows(in);
  const cs::mdspan<const int, Fixed, cs::layout_left> columns(in);
  const cs::mdspan<const int, Free> cube(in, 4, 8, 4);
  const cs::layout_stride::mapping<Fixed> strided(Fixed{}, cs::array<int, 2>{1, 8});
  const cs::mdspan<const int, Fixed, cs::layout_stride> view(in, strided);
  const int i = threadIdx.x;
  out[i] = rows(i / 16, i % 16);
  out[128 + i] = columns(i / 16, i % 16);
  out[256 + i] = cube(i % 4, i / 16, i / 4 % 4) + static_cast<int>(cube.size());
  out[384 + i] = view(i / 16, i % 16) - view.stride(1);
}

template <class T>
__global__ void limits(const int*, T* out) {
  using Limits = cs::numeric_limits<T>;
  out[0] = Limits::max();
  out[1] = Limits::lowest();
  out[2] = Limits::min();
  out[3] = Limits::epsilon();
  out[4] = static_cast<T>(Limits::digits);
}

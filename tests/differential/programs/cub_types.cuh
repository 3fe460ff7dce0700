// SPDX-License-Identifier: Apache-2.0
// What the CUB programs share: a struct of one's own that adds up and compares.
#pragma once
#include <cuda/functional>
#include <cuda/std/cstdint>
#include <cuda/std/tuple>

#include <cuda_fp16.h>

using u8 = unsigned char;
using u32 = unsigned int;
using u64 = unsigned long long;

struct Pair {
  int key;
  float value;
  __device__ bool operator==(const Pair& other) const {
    return key == other.key && value == other.value;
  }
  __device__ bool operator!=(const Pair& other) const { return !(*this == other); }
  __device__ bool operator<(const Pair& other) const {
    return key < other.key || (key == other.key && value < other.value);
  }
  __device__ Pair operator+(const Pair& other) const {
    return {key + other.key, value + other.value};
  }
};

struct PairKey {
  __device__ cuda::std::tuple<int&, float&> operator()(Pair& pair) const {
    return {pair.key, pair.value};
  }
};

struct Larger {
  template <class T>
  __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

struct Less {
  template <class T>
  __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

struct Unequal {
  template <class T>
  __device__ bool operator()(const T& a, const T& b) const {
    return a != b;
  }
};

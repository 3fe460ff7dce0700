// SPDX-License-Identifier: Apache-2.0
// launch: block=32 output=32
struct Base {
  unsigned x;
  __device__ explicit Base(unsigned v) : x(v) {}
  __device__ virtual ~Base() { x = 0; }
  __device__ virtual unsigned value() const { return x; }
};
struct One : Base {
  using Base::Base;
  __device__ unsigned value() const override { return x * 2; }
};
struct Two : Base {
  using Base::Base;
  __device__ unsigned value() const override { return x ^ 0xff00ff; }
};

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  Base* made =
      threadIdx.x % 2 ? static_cast<Base*>(new One(in[threadIdx.x])) : new Two(in[threadIdx.x]);
  out[threadIdx.x] = made->value() + threadIdx.x;
  delete made;
}

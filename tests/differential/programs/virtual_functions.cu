// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=64
struct Shape {
  __device__ virtual unsigned area() const = 0;
};
struct Square : Shape {
  unsigned side;
  __device__ explicit Square(unsigned s) : side(s) {}
  __device__ unsigned area() const override { return side * side; }
};
struct Oblong : Shape {
  unsigned a, b;
  __device__ Oblong(unsigned x, unsigned y) : a(x), b(y) {}
  __device__ unsigned area() const override { return a * b; }
};
struct Tall : Oblong {
  __device__ explicit Tall(const Oblong& o) : Oblong(o) {}
  __device__ unsigned area() const override { return Oblong::area() * 10 + 1; }
};

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  Square square{in[threadIdx.x] % 100};
  Oblong oblong{in[threadIdx.x] % 50, in[threadIdx.x + 64] % 70};
  Tall tall{{in[threadIdx.x] % 9, 4}};
  Shape* shapes[3] = {&square, &oblong, &tall};
  unsigned sum = 0;
  for (unsigned i = 0; i < 4; ++i) sum = sum * 31 + shapes[(threadIdx.x + i) % 3]->area();
  out[threadIdx.x] = sum;
}

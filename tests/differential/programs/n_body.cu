// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=192 mode=approx.f32:1e-4:1e-5

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const auto unit = [&](unsigned i) { return static_cast<float>(in[i]) * 0x1p-32f; };
  __shared__ float3 bodies[64];
  float3 at{unit(threadIdx.x), unit(64 + threadIdx.x), unit(128 + threadIdx.x)}, speed{0, 0, 0};
  for (int step = 0; step < 3; ++step) {
    __syncthreads();
    bodies[threadIdx.x] = at;
    __syncthreads();
    for (int j = 0; j < 64; ++j) {
      const float dx = bodies[j].x - at.x, dy = bodies[j].y - at.y, dz = bodies[j].z - at.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      const float force = inverse * inverse * inverse * 0.001f;
      speed.x += dx * force;
      speed.y += dy * force;
      speed.z += dz * force;
    }
    at.x += speed.x * 0.1f;
    at.y += speed.y * 0.1f;
    at.z += speed.z * 0.1f;
  }
  out[threadIdx.x] = __float_as_uint(at.x);
  out[64 + threadIdx.x] = __float_as_uint(at.y);
  out[128 + threadIdx.x] = __float_as_uint(at.z);
}

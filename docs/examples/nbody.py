# SPDX-License-Identifier: Apache-2.0
"""n-body: two galaxies of stars that attract each other, step by step, and a picture of them."""

import matplotlib.pyplot as plt
import numpy as np
from cudacore import Device, Program, simulator

SOURCE = """
// Accelerates each body toward all others. Every thread needs all bodies, so the threads of a block
// load them into shared memory together, one tile at a time. n is a multiple of the block's size.
__global__ void kick(const float4* bodies, float4* velocities, int n, float dt) {
  extern __shared__ float4 tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = bodies[i];
  float3 sum = {0, 0, 0};
  for (int first = 0; first < n; first += blockDim.x) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < blockDim.x; ++j) {
      const float x = tile[j].x - me.x, y = tile[j].y - me.y, z = tile[j].z - me.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + SOFTENING);
      const float pull = tile[j].w * inverse * inverse * inverse;  // w is the mass
      sum.x += pull * x, sum.y += pull * y, sum.z += pull * z;
    }
    __syncthreads();
  }
  velocities[i].x += dt * sum.x, velocities[i].y += dt * sum.y, velocities[i].z += dt * sum.z;
}

__global__ void drift(float4* bodies, const float4* velocities, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 v = velocities[i];
  bodies[i].x += dt * v.x, bodies[i].y += dt * v.y, bodies[i].z += dt * v.z;
}
"""
SOFTENING = 0.01
code = Program(SOURCE, "c++", {"define_macro": {"SOFTENING": f"{SOFTENING}f"}}).compile()
kick, drift = code.get_kernel("kick"), code.get_kernel("drift")

n, steps, dt, block = (1024 if simulator.is_enabled() else 32768), 150, 0.02, 128

# Each galaxy: a heavy center, and stars on circles around it. The second one passes by the first.
rng = np.random.default_rng(0)
radius, angle = np.sqrt(rng.uniform(0.1, 1, n)), rng.uniform(0, 2 * np.pi, n)
speed = np.sqrt(radius**2 / (radius**2 + SOFTENING) ** 1.5)
bodies = np.zeros((n, 4), "float32")
bodies[:, 0], bodies[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
bodies[:, 2], bodies[:, 3] = rng.normal(0, 0.02, n), 0.1 / n
velocities = np.zeros((n, 4), "float32")
velocities[:, 0], velocities[:, 1] = -speed * np.sin(angle), speed * np.cos(angle)
bodies[0], bodies[n // 2], velocities[[0, n // 2]] = (0, 0, 0, 1), (0, 0, 0, 1), 0
bodies[n // 2 :, :2] += 2.2, 1.2
velocities[n // 2 :, 0] -= 0.7

device = Device()
d_bodies, d_velocities = device.to_device(bodies), device.to_device(velocities)
pull = kick[n // block, block, None, 16 * block]  # keep the launchers: they are called often
move = drift[n // block, block]

pull(d_bodies, d_velocities, n, dt)
toward = bodies[:, :3] - bodies[:64, None, :3]
weight = bodies[:, 3] * ((toward**2).sum(-1) + SOFTENING) ** -1.5
expected = velocities[:64, :3] + dt * (weight[..., None] * toward).sum(1)
result = d_velocities.to_host("float32", (n, 4))[:64, :3]
np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-4)

for _ in range(steps):
    move(d_bodies, d_velocities, dt)
    pull(d_bodies, d_velocities, n, dt)
x, y = d_bodies.to_host("float32", (n, 4)).T[:2]
print(f"{n} bodies, {steps} steps: {len(expected)} velocities after the first agree with NumPy")

plt.figure(figsize=(6, 4), layout="constrained", facecolor="black")
plt.scatter(x, y, s=100 / np.sqrt(n), c=np.arange(n) < n // 2, cmap="cool", linewidths=0)
plt.axis("equal")
plt.axis("off")
plt.savefig("nbody.png")

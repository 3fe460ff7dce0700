// SPDX-License-Identifier: Apache-2.0
//
// The Mandelbrot set, shown in relief. For each sample, z = z * z + c from z = 0 until |z| > 1000.
// How far z overshoots that radius gives a fraction of an iteration, which makes the colors
// continuous. z / dz points straight away from the set; light from one side gives the relief.

template <typename T>
struct Color {
  T red, green, blue;
};

/// The color of one point of the plane; black if z stays within the radius.
template <typename T>
__device__ Color<T> shade(T cx, T cy, int iterations) {
  const T radius_squared = T(1e6);
  T x = 0, y = 0;    // z
  T dx = 0, dy = 0;  // dz, its derivative with respect to c
  for (int n = 1; n <= iterations; ++n) {
    const T next_dx = 2 * (x * dx - y * dy) + 1;
    dy = 2 * (x * dy + y * dx);
    dx = next_dx;
    const T next_x = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next_x;
    const T norm = x * x + y * y;
    if (norm <= radius_squared) continue;

    const T count = n - log2(log(norm) / log(radius_squared));
    const T phase = T(2.4) * log(count + 1) + T(2.6);
    // z times the conjugate of dz has the direction of z / dz, but needs no division.
    const T away_x = x * dx + y * dy;
    const T away_y = y * dx - x * dy;
    const T slope = (T(0.6) * away_x + T(0.8) * away_y) / sqrt(away_x * away_x + away_y * away_y);
    const T light = T(0.37) + T(0.13) * slope;
    return {light * (1 + cos(phase)), light * (1 + cos(phase + T(0.7))),
            light * (1 + cos(phase + T(1.4)))};
  }
  return {0, 0, 0};
}

/// One pixel per thread, from the top left; averaging four samples smooths the edges. `rgb` takes 3
/// * width * height bytes; `pixel` is the width of a pixel in the plane.
template <typename T>
__global__ void mandelbrot(unsigned char* rgb, int width, int height, T center_x, T center_y,
                           T pixel, int iterations) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;

  Color<T> sum{0, 0, 0};
  for (int sample = 0; sample < 4; ++sample) {
    const T right = column + T(0.25) + T(0.5) * (sample % 2) - T(0.5) * width;
    const T down = row + T(0.25) + T(0.5) * (sample / 2) - T(0.5) * height;
    const Color<T> color = shade(center_x + right * pixel, center_y - down * pixel, iterations);
    sum.red += color.red;
    sum.green += color.green;
    sum.blue += color.blue;
  }
  const auto to_byte = [](T total) {
    return static_cast<unsigned char>(T(63.75) * total + T(0.5));
  };
  unsigned char* out = rgb + 3 * (static_cast<size_t>(row) * width + column);
  out[0] = to_byte(sum.red);
  out[1] = to_byte(sum.green);
  out[2] = to_byte(sum.blue);
}

// SPDX-License-Identifier: Apache-2.0

extern "C" __global__ void empty() {}

extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = a * x[i] + y[i];
  }
}

template <int tile>
__global__ void matmul(int n, const float* a, const float* b, float* c) {
  __shared__ float as[tile][tile];
  __shared__ float bs[tile][tile];
  const int row = blockIdx.y * tile + threadIdx.y;
  const int column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += tile) {
    as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// 256 threads per block; one sum for each block.
extern "C" __global__ void reduce(int n, const float* x, float* sums) {
  __shared__ float shared[256];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += x[i];
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int width = 128; width > 0; width /= 2) {
    if (threadIdx.x < width) shared[threadIdx.x] += shared[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = shared[0];
}

extern "C" __global__ void mandelbrot(int width, int height, int limit, int* counts) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  const float cx = -2.0f + 3.0f * column / width;
  const float cy = -1.0f + 2.0f * row / height;
  float x = 0;
  float y = 0;
  int count = 0;
  while (count < limit && x * x + y * y < 4.0f) {
    const float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    ++count;
  }
  counts[row * width + column] = count;
}

extern "C" __global__ void search(int n, const int* sorted, const int* keys, int* places) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int low = 0;
  int high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] < keys[i]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  places[i] = low;
}

extern "C" __global__ void touch(long long n, unsigned char* bytes) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) bytes[i & 1048575] = static_cast<unsigned char>(i);
}

// Each thread reads through one of n pointers, scattered.
extern "C" __global__ void follow(unsigned n, const int* const* pointers, int* values) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] = *pointers[i * 2654435761u % n];
}

// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=192

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned char* text = reinterpret_cast<const unsigned char*>(in) + threadIdx.x * 16;
  char upper[17];
  unsigned length = 0;
  for (; length < 16 && text[length] % 29 != 0; ++length) {
    const char c = 'a' + text[length] % 26;
    upper[length] = c - 32;
  }
  upper[length] = 0;
  unsigned hash = 2166136261u;
  for (const char* at = upper; *at != 0; ++at)
    hash = (hash ^ static_cast<unsigned char>(*at)) * 16777619u;
  bool palindrome = true;
  for (unsigned i = 0; i < length / 2; ++i)
    palindrome = palindrome && upper[i] == upper[length - 1 - i];
  out[threadIdx.x] = hash;
  out[64 + threadIdx.x] = length * 2 + palindrome;
  const char* words[] = {"zero", "one", "two", "three"};
  unsigned sum = 0;
  for (const char* at = words[text[0] % 4]; *at != 0; ++at) sum = sum * 31 + *at;
  out[128 + threadIdx.x] = sum;
}

// SPDX-License-Identifier: Apache-2.0
//
// What the sanitizers are to overlook: NVIDIA's compilers are not built for them.

extern "C" {

[[gnu::visibility("default")]] const char* __lsan_default_suppressions();
[[gnu::visibility("default")]] const char* __tsan_default_suppressions();

const char* __lsan_default_suppressions() { return "leak:libnvJitLink\nleak:libnvrtc\n"; }

const char* __tsan_default_suppressions() {
  return "called_from_lib:libnvJitLink.so\ncalled_from_lib:libnvrtc.so\n";
}
}

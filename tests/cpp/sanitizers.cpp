// SPDX-License-Identifier: Apache-2.0
//
// Options for the sanitizers: NVIDIA's compilers are not built for them, and are ignored.

extern "C" {

[[gnu::visibility("default")]] const char* __asan_default_options();
[[gnu::visibility("default")]] const char* __lsan_default_suppressions();
[[gnu::visibility("default")]] const char* __tsan_default_suppressions();

// The leak check mistakes a thread-local block at the start of a page for one that an old glibc
// laid out, and occasionally crashes on it (google/sanitizers, issue 1322).
const char* __asan_default_options() { return "intercept_tls_get_addr=0"; }

const char* __lsan_default_suppressions() {
  return "leak:libnvJitLink\nleak:libnvfatbin\nleak:libnvrtc\n";
}

const char* __tsan_default_suppressions() {
  return "called_from_lib:libnvJitLink.so\ncalled_from_lib:libnvfatbin.so\ncalled_from_lib:"
         "libnvrtc.so\n";
}
}

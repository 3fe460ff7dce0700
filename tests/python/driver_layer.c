// SPDX-License-Identifier: Apache-2.0
//
// A driver that passes everything on to the simulated device, REAL, except for the functions that the
// rest of the source defines with the prefix fake_. fake_calls() tells what they note.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long address_t;

static char calls[4096];

const char* fake_calls(void) { return calls; }
void fake_forget(void) { calls[0] = 0; }

static int note(const char* format, ...) {
  const size_t length = strlen(calls);
  va_list given;
  va_start(given, format);
  vsnprintf(calls + length, sizeof(calls) - length, format, given);
  va_end(given);
  return 0;
}

static void* real(const char* name) {
  static void* library;
  if (!library) library = dlopen(REAL, RTLD_NOW);
  return dlsym(library, name);
}

int cuDriverGetVersion(int* version) {
  return ((int (*)(int*))real("cuDriverGetVersion"))(version);
}
int cudacoreSimulatorConfigure(unsigned devices, int major, int minor, size_t memory) {
  return ((int (*)(unsigned, int, int, size_t))real("cudacoreSimulatorConfigure"))(devices, major,
                                                                                  minor, memory);
}
int cuGetProcAddress_v2(const char* name, void** function, int version, address_t flags,
                        int* status) {
  char fake[128];
  snprintf(fake, sizeof(fake), "fake_%s", name);
  Dl_info here;
  dladdr((void*)&cuGetProcAddress_v2, &here);
  *function = dlsym(dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD), fake);
  if (*function) {
    if (status) *status = 0;
    return 0;
  }
  return ((int (*)(const char*, void**, int, address_t, int*))real("cuGetProcAddress_v2"))(
      name, function, version, flags, status);
}

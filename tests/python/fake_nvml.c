// SPDX-License-Identifier: Apache-2.0
//
// An NVML with one device, whose structures are written down as <nvml.h> has them. fake_fail() makes
// a function fail; fake_missing() names it. STUBS defines all other functions, which fail too.
#include <stdio.h>
#include <string.h>

typedef void* device_t;
static char failing[64];
static int failure;

void fake_fail(const char* name, int result) {
  snprintf(failing, sizeof(failing), "%s", name);
  failure = result;
}

#define BEGIN \
  if (strcmp(failing, __func__) == 0) return failure;
#define NUMBER(name, type, value)          \
  int name(device_t device, type* answer) { \
    BEGIN;                                  \
    *answer = value;                        \
    return 0;                               \
  }
#define TEXT(name, value)                                        \
  int name(device_t device, char* answer, unsigned length) {     \
    BEGIN;                                                       \
    return snprintf(answer, length, "%s", value) < (int)length ? 0 : 7; \
  }
#define STUB(name) \
  int name(void) { \
    BEGIN;         \
    return 3;      \
  }
STUBS

static int starts;
int fake_starts(void) { return starts; }
int nvmlInit_v2(void) {
  ++starts;
  BEGIN;
  return 0;
}
const char* nvmlErrorString(int result) { return result == 3 ? "Not Supported" : "Made Up"; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  BEGIN;
  *count = 1;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t* device) {
  BEGIN;
  *device = (device_t)(0x1000L + index);
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, device_t* device) {
  BEGIN;
  *device = (device_t)0x1000;
  return strcmp(uuid, "MIG-1") == 0 ? 0 : 6;
}
TEXT(nvmlDeviceGetUUID, "GPU-0123")
TEXT(nvmlDeviceGetName, "Made Up \xff")
TEXT(nvmlDeviceGetSerial, "1234")
NUMBER(nvmlDeviceGetBrand, int, 5)
NUMBER(nvmlDeviceGetArchitecture, unsigned, 9)
NUMBER(nvmlDeviceGetPowerUsage, unsigned, 123456)
NUMBER(nvmlDeviceGetPowerManagementLimit, unsigned, 700000)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned, 600000)
NUMBER(nvmlDeviceGetTotalEnergyConsumption, unsigned long long, 1ULL << 40)
NUMBER(nvmlDeviceGetComputeMode, int, 3)
NUMBER(nvmlDeviceGetPerformanceState, unsigned, 32)
NUMBER(nvmlDeviceGetNumFans, unsigned, 2)
NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, 0x144)
NUMBER(nvmlDeviceGetSupportedEventTypes, unsigned long long, 0x1c)

int nvmlDeviceGetUtilizationRates(device_t device, unsigned answer[2]) {
  BEGIN;
  answer[0] = 17;
  answer[1] = 4;
  return 0;
}
struct memory {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
int nvmlDeviceGetMemoryInfo_v2(device_t device, struct memory* answer) {
  BEGIN;
  if (answer->version != 0x2000028) return 25;
  *answer = (struct memory){answer->version, 100, 5, 60, 35};
  return 0;
}
struct pci {
  unsigned version, domain, bus, device, id, subsystem, base, sub;
  char text[32];
};
int nvmlDeviceGetPciInfoExt(device_t device, struct pci* answer) {
  BEGIN;
  if (answer->version != 0x1000040) return 25;
  *answer = (struct pci){answer->version, 1, 0x41, 2, 0x233510de, 7, 3, 2, "00000001:41:02.0"};
  return 0;
}
int nvmlDeviceGetTemperature(device_t device, int sensor, unsigned* answer) {
  BEGIN;
  *answer = sensor == 0 ? 41 : 0;
  return 0;
}
struct margin {
  unsigned version;
  int celsius;
};
int nvmlDeviceGetMarginTemperature(device_t device, struct margin* answer) {
  BEGIN;
  if (answer->version != 0x1000008) return 25;
  answer->celsius = -3;
  return 0;
}
struct thermal {
  unsigned count;
  struct {
    int controller, least, most, now, target;
  } sensor[3];
};
int nvmlDeviceGetThermalSettings(device_t device, unsigned sensor, struct thermal* answer) {
  BEGIN;
  answer->count = 2;
  answer->sensor[0].controller = 1;
  answer->sensor[0].now = (int)sensor;
  answer->sensor[0].target = 1;
  answer->sensor[1].controller = -1;
  answer->sensor[1].target = -1;
  return 0;
}
int nvmlDeviceGetClock(device_t device, int type, int id, unsigned* answer) {
  BEGIN;
  *answer = (unsigned)(1000 + 10 * type + id);
  return 0;
}
struct offset {
  unsigned version;
  int type, state, offset, least, most;
};
int nvmlDeviceGetClockOffsets(device_t device, struct offset* answer) {
  BEGIN;
  if (answer->version != 0x1000018) return 25;
  answer->offset = answer->type + answer->state;
  answer->least = -5;
  answer->most = 9;
  return 0;
}
int nvmlDeviceGetMinMaxClockOfPState(device_t device, int type, int state, unsigned* least,
                                     unsigned* most) {
  BEGIN;
  *least = (unsigned)type;
  *most = (unsigned)state;
  return 0;
}
struct process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu, compute;
};
int nvmlDeviceGetComputeRunningProcesses_v3(device_t device, unsigned* count,
                                            struct process* answer) {
  BEGIN;
  if (*count < 2) return 7;
  *count = 2;
  answer[0] = (struct process){11, 1ULL << 33, ~0U, ~0U};
  answer[1] = (struct process){12, ~0ULL, 3, 4};
  return 0;
}
int nvmlDeviceGetSupportedPerformanceStates(device_t device, unsigned* states, unsigned bytes) {
  BEGIN;
  for (unsigned i = 0; i < bytes / sizeof(unsigned); ++i) states[i] = i < 3 ? 2 * i : 32;
  return 0;
}
int nvmlDeviceGetCpuAffinityWithinScope(device_t device, unsigned words, unsigned long* set,
                                        unsigned scope) {
  BEGIN;
  memset(set, 0, words * sizeof(long));
  set[0] = 5;
  set[1] = 1UL << 63;
  return scope == 1 ? 0 : 3;
}
struct attributes {
  unsigned fields[8];
  unsigned long long memory;
};
int nvmlDeviceGetAttributes_v2(device_t device, struct attributes* answer) {
  BEGIN;
  for (unsigned i = 0; i < 8; ++i) answer->fields[i] = i;
  answer->memory = 81920;
  return 0;
}
struct field {
  unsigned id, scope;
  long long timestamp, latency;
  int type, result;
  union {
    double d;
    int i;
    unsigned long long u;
  } value;
};
int nvmlDeviceGetFieldValues(device_t device, int count, struct field* answer) {
  BEGIN;
  answer->timestamp = 1000;
  answer->latency = 7;
  answer->type = answer->id == 91 ? 1 : answer->id == 2 ? 0 : 5;
  answer->result = answer->id == 4 ? 3 : 0;
  if (answer->type == 0) answer->value.d = 0.5;
  if (answer->type == 1) answer->value.u = 0xdead00000002;
  if (answer->type == 5) answer->value.i = -(int)answer->scope;
  return 0;
}
int nvmlDeviceGetNvLinkVersion(device_t device, unsigned link, unsigned* version) {
  BEGIN;
  *version = link == 0 ? 6 : 77;
  return 0;
}
int nvmlDeviceGetNvLinkState(device_t device, unsigned link, unsigned* state) {
  BEGIN;
  *state = link == 0;
  return 0;
}
struct cooler {
  unsigned version, index;
  int signal, target;
};
int nvmlDeviceGetCoolerInfo(device_t device, struct cooler* answer) {
  BEGIN;
  if (answer->version != 0x1000010) return 25;
  answer->signal = 2;
  answer->target = 6;
  return 0;
}
struct states {
  unsigned flags;
  unsigned domains[8][4];
};
int nvmlDeviceGetDynamicPstatesInfo(device_t device, struct states* answer) {
  BEGIN;
  memset(answer, 0, sizeof(*answer));
  answer->domains[7][0] = 1;
  answer->domains[7][1] = 33;
  return 0;
}
int nvmlEventSetCreate(void** set) {
  BEGIN;
  *set = (void*)0x77;
  return 0;
}
static int freed;
int fake_freed(void) { return freed; }
int nvmlEventSetFree(void* set) {
  BEGIN;
  freed += set == (void*)0x77;
  return 0;
}
int nvmlDeviceRegisterEvents(device_t device, unsigned long long types, void* set) {
  BEGIN;
  return types == 0x8 ? 0 : 3;
}
struct event {
  device_t device;
  unsigned long long type, data;
  unsigned gpu, compute;
};
int nvmlEventSetWait_v2(void* set, struct event* answer, unsigned timeout) {
  BEGIN;
  *answer = (struct event){(device_t)0x1000, 8, 79, 1, 2};
  return 0;
}
struct set_request {
  unsigned version;
  void* set;
};
int nvmlSystemEventSetCreate(struct set_request* request) {
  BEGIN;
  if (request->version != 0x1000010) return 25;
  request->set = (void*)0x88;
  return 0;
}
int nvmlSystemEventSetFree(struct set_request* request) {
  BEGIN;
  freed += request->set == (void*)0x88;
  return 0;
}
struct registration {
  unsigned version;
  unsigned long long types;
  void* set;
};
int nvmlSystemRegisterEvents(struct registration* request) {
  BEGIN;
  return request->version == 0x1000018 && request->types == 3 && request->set == (void*)0x88 ? 0
                                                                                              : 25;
}
struct system_event {
  unsigned long long type;
  unsigned gpu;
};
struct system_wait {
  unsigned version, timeout;
  void* set;
  struct system_event* events;
  unsigned capacity, count;
};
int nvmlSystemEventSetWait(struct system_wait* request) {
  BEGIN;
  if (request->version != 0x1000020 || request->capacity < 2) return 25;
  request->events[0] = (struct system_event){2, 0x14102};
  request->events[1] = (struct system_event){1, 0x99};
  request->count = 2;
  return 0;
}
struct branch {
  unsigned version;
  char text[80];
};
int nvmlSystemGetDriverBranch(struct branch* answer, unsigned length) {
  BEGIN;
  if (answer->version != 0x1000054) return 25;
  snprintf(answer->text, length, "r580_00");
  return 0;
}

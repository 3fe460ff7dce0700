// SPDX-License-Identifier: Apache-2.0
//
// Over driver_layer.c: a driver whose kernel nodes kernels may update. The handle of a node is that
// of the host plus 1.
struct updatable {
  int is_updatable;
  void* device_node;
};

enum { device_updatable_kernel_node = 13 };
static void* updatable_nodes[16];
static int updatable_count;

int fake_cuGraphKernelNodeSetAttribute(void* node, int id, const struct updatable* value) {
  if (id != device_updatable_kernel_node) {
    return ((int (*)(void*, int, const void*))real("cuGraphKernelNodeSetAttribute"))(node, id,
                                                                                      value);
  }
  if (!value->is_updatable) return 1;  // there is no way back
  updatable_nodes[updatable_count++] = node;
  return 0;
}
int fake_cuGraphKernelNodeGetAttribute(void* node, int id, struct updatable* value) {
  if (id != device_updatable_kernel_node) {
    return ((int (*)(void*, int, void*))real("cuGraphKernelNodeGetAttribute"))(node, id, value);
  }
  memset(value, 0, sizeof(*value));
  for (int i = 0; i < updatable_count; ++i) {
    if (updatable_nodes[i] != node) continue;
    value->is_updatable = 1;
    value->device_node = (char*)node + 1;
  }
  return 0;
}

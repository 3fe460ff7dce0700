// SPDX-License-Identifier: Apache-2.0
//
// Over driver_layer.c: a driver that registers buffers and images as if OpenGL had them. Their memory
// is the simulated device's.
struct array {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
struct resource {
  int is_image, is_mapped;
  unsigned name;
  address_t memory;
  void *array, *levels;
};

enum { buffer_bytes = 1024, wide = 8, high = 4, level_count = 3, uint8 = 1 };
static struct resource all[64];
static int used;

static int add(struct resource** made, int is_image, unsigned name) {
  if (name == 999) return 219;  // no context of OpenGL's
  struct resource* one = &all[used++];
  one->is_image = is_image;
  one->name = name;
  *made = one;
  return 0;
}
int fake_cuGraphicsGLRegisterBuffer(struct resource** made, unsigned name, unsigned flags) {
  if (add(made, 0, name)) return 219;
  note("register buffer %u as %u\n", name, flags);
  return ((int (*)(address_t*, size_t))real("cuMemAlloc_v2"))(&(*made)->memory, buffer_bytes);
}
int fake_cuGraphicsGLRegisterImage(struct resource** made, unsigned name, unsigned target,
                                   unsigned flags) {
  if (add(made, 1, name)) return 219;
  note("register image %u of target %u as %u\n", name, target, flags);
  struct array described = {wide, high, 0, uint8, 4, flags & 4 ? 2 : 0};
  struct array layered = {wide, high, 2, uint8, 4, 1};
  const struct array* level_0 = name == 77 ? &layered : &described;
  int (*create)(void**, const struct array*) = real("cuArray3DCreate_v2");
  int (*create_levels)(void**, const struct array*, unsigned) = real("cuMipmappedArrayCreate");
  const int result = create(&(*made)->array, level_0);
  return result ? result : create_levels(&(*made)->levels, level_0, level_count);
}
int fake_cuGraphicsUnregisterResource(struct resource* one) {
  return one->is_mapped ? 208 : note("unregister %u\n", one->name);
}
int fake_cuGraphicsMapResources(unsigned count, struct resource** resources, void* stream) {
  if (resources[0]->is_mapped) return 208;
  resources[0]->is_mapped = 1;
  return note("map %u on %p\n", resources[0]->name, stream);
}
int fake_cuGraphicsUnmapResources(unsigned count, struct resource** resources, void* stream) {
  if (!resources[0]->is_mapped) return 211;
  resources[0]->is_mapped = 0;
  return note("unmap %u on %p\n", resources[0]->name, stream);
}
int fake_cuGraphicsResourceGetMappedPointer(address_t* pointer, size_t* size,
                                            struct resource* one) {
  if (one->is_image) return 213;
  *pointer = one->memory;
  *size = buffer_bytes;
  return 0;
}
int fake_cuGraphicsSubResourceGetMappedArray(void** array, struct resource* one, unsigned layer,
                                             unsigned level) {
  if (!one->is_image) return 212;
  if (level >= level_count) return 1;
  *array = one->array;
  return note("layer %u, level %u\n", layer, level);
}
int fake_cuGraphicsResourceGetMappedMipmappedArray(void** levels, struct resource* one) {
  if (!one->is_image) return 212;
  *levels = one->levels;
  return 0;
}

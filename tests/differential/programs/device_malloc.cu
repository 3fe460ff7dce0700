// SPDX-License-Identifier: Apache-2.0
// launch: block=32 output=32
struct Node {
  unsigned value;
  Node* next;
};

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  Node* head = nullptr;
  for (unsigned i = 0; i < 4 + threadIdx.x % 3; ++i) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    node->value = in[threadIdx.x * 4 + i];
    node->next = head;
    head = node;
  }
  unsigned sum = 0;
  while (head != nullptr) {
    sum = sum * 7 + head->value;
    Node* next = head->next;
    free(head);
    head = next;
  }
  out[threadIdx.x] = sum;
}

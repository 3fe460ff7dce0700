// SPDX-License-Identifier: Apache-2.0
//
// Streams and events.
#include "simulator/runtime/call.hpp"

namespace cudacore::runtime {

extern "C" {

cudaError_t cudaStreamCreate(CUstream* stream) {
  return call([&] { return cuStreamCreate(stream, CU_STREAM_DEFAULT); });
}

cudaError_t cudaStreamCreateWithFlags(CUstream* stream, unsigned flags) {
  return call([&] { return cuStreamCreate(stream, flags); });
}

cudaError_t cudaStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return call([&] { return cuStreamCreateWithPriority(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(CUstream stream) {
  return call([&] { return cuStreamDestroy(stream); });
}

CUDACORE_RUNTIME_TWINS(cudaStreamSynchronize, _ptsz, (CUstream stream),
                       cuStreamSynchronize(on(stream)))
CUDACORE_RUNTIME_TWINS(cudaStreamQuery, _ptsz, (CUstream stream), cuStreamQuery(on(stream)))
CUDACORE_RUNTIME_TWINS(cudaStreamGetFlags, _ptsz, (CUstream stream, unsigned* flags),
                       cuStreamGetFlags(on(stream), flags))
CUDACORE_RUNTIME_TWINS(cudaStreamGetId, _ptsz, (CUstream stream, unsigned long long* id),
                       cuStreamGetId(on(stream), id))
CUDACORE_RUNTIME_TWINS(cudaStreamGetPriority, _ptsz, (CUstream stream, int* priority),
                       cuStreamGetPriority(on(stream), priority))
CUDACORE_RUNTIME_TWINS(cudaStreamGetDevice, _ptsz, (CUstream stream, int* device),
                       cuStreamGetDevice(on(stream), device))
CUDACORE_RUNTIME_TWINS(cudaStreamCopyAttributes, _ptsz, (CUstream to, CUstream from),
                       cuStreamCopyAttributes(on(to), on(from)))
CUDACORE_RUNTIME_TWINS(cudaStreamGetAttribute, _ptsz,
                       (CUstream stream, CUstreamAttrID id, CUstreamAttrValue* value),
                       cuStreamGetAttribute(on(stream), id, value))
CUDACORE_RUNTIME_TWINS(cudaStreamSetAttribute, _ptsz,
                       (CUstream stream, CUstreamAttrID id, const CUstreamAttrValue* value),
                       cuStreamSetAttribute(on(stream), id, value))
CUDACORE_RUNTIME_TWINS(cudaStreamIsCapturing, _ptsz,
                       (CUstream stream, CUstreamCaptureStatus* status),
                       cuStreamIsCapturing(on(stream), status))
CUDACORE_RUNTIME_TWINS(cudaStreamWaitEvent, _ptsz, (CUstream stream, CUevent event, unsigned flags),
                       cuStreamWaitEvent(on(stream), event, flags))

cudaError_t cudaThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return call([&] { return cuThreadExchangeStreamCaptureMode(mode); });
}

cudaError_t cudaEventCreate(CUevent* event) {
  return call([&] { return cuEventCreate(event, CU_EVENT_DEFAULT); });
}

cudaError_t cudaEventCreateWithFlags(CUevent* event, unsigned flags) {
  return call([&] { return cuEventCreate(event, flags); });
}

cudaError_t cudaEventDestroy(CUevent event) {
  return call([&] { return cuEventDestroy(event); });
}

cudaError_t cudaEventQuery(CUevent event) {
  return call([&] { return cuEventQuery(event); });
}

cudaError_t cudaEventSynchronize(CUevent event) {
  return call([&] { return cuEventSynchronize(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return call([&] { return cuEventElapsedTime(milliseconds, start, end); });
}

CUDACORE_RUNTIME_TWINS(cudaEventRecord, _ptsz, (CUevent event, CUstream stream),
                       cuEventRecord(event, on(stream)))
CUDACORE_RUNTIME_TWINS(cudaEventRecordWithFlags, _ptsz,
                       (CUevent event, CUstream stream, unsigned flags),
                       cuEventRecordWithFlags(event, on(stream), flags))

}  // extern "C"

}  // namespace cudacore::runtime

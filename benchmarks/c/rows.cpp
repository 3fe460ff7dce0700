// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>

namespace bench {

namespace {

constexpr std::array<const char*, 4> kCycle{"float*", "int", "float", "double"};
constexpr std::array<const char*, 4> kFour{"float*", "float*", "float", "int"};
constexpr unsigned kThreads = 32;
constexpr std::size_t kMebibyte = std::size_t{1} << 20;
constexpr std::size_t kKibibyte = std::size_t{1} << 10;

// The mix of types that benchmarks/kernels.py gives the Python peers.
Types mixed_types(std::size_t count) {
  Types types;
  for (std::size_t i = 0; i < count; ++i) {
    types.push_back(count <= kFour.size() ? kFour.at(i) : kCycle.at(i % kCycle.size()));
  }
  return types;
}

/// Values for an empty kernel's parameters, and the pointers to them that a launch needs.
struct Arguments {
  Arguments(const Types& types, CUdeviceptr pointer)
      : values(types.size()), pointers(types.size()) {
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::string_view type = types[i];
      if (type == "float*") {
        values[i].pointer = pointer;
      } else if (type == "int") {
        values[i].i32 = 7;
      } else if (type == "float") {
        values[i].f32 = 2.5F;
      } else {
        values[i].f64 = 0.125;
      }
      pointers[i] = &values[i];
    }
  }

  union Value {
    CUdeviceptr pointer;
    std::int32_t i32;
    float f32;
    double f64;
  };
  std::vector<Value> values;
  std::vector<void*> pointers;
};

CUfunction load_function(Session& session, const std::vector<char>& cubin, const char* name) {
  const Driver& driver = session.driver();
  CUmodule code = nullptr;
  driver.check(driver.module_load(&code, cubin.data()), "cuModuleLoadData");
  CUfunction function = nullptr;
  driver.check(driver.module_function(&function, code, name), "cuModuleGetFunction");
  return function;
}

CUfunction as_library_kernel(Session& session, const std::vector<char>& cubin) {
  const Driver& driver = session.driver();
  CUlibrary library = nullptr;
  driver.check(
      driver.library_load(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      "cuLibraryLoadData");
  CUkernel kernel = nullptr;
  driver.check(driver.library_kernel(&kernel, library, "empty"), "cuLibraryGetKernel");
  return reinterpret_cast<CUfunction>(kernel);
}

std::function<void()> settle(Session& session) {
  return [&session] { session.sync(); };
}

Case launch(Session& session, CUfunction function, const Types& types, bool synchronize) {
  const auto arguments = std::make_shared<Arguments>(types, session.allocate(kMebibyte));
  const Driver& driver = session.driver();
  CUstream stream = session.stream();
  const auto run = [=, &driver](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      driver.check(driver.launch_kernel(function, 1, 1, 1, kThreads, 1, 1, 0, stream,
                                        arguments->pointers.data(), nullptr),
                   "cuLaunchKernel");
      if (synchronize) {
        driver.check(driver.stream_synchronize(stream), "cuStreamSynchronize");
      }
    }
  };
  return {run, settle(session)};
}

Case launch_plain(Session& session, const Types& types, bool synchronize = false) {
  return launch(session, load_function(session, session.empty_kernel(types), "empty"), types,
                synchronize);
}

Case launch_library_kernel(Session& session) {
  const Types types = mixed_types(4);
  return launch(session, as_library_kernel(session, session.empty_kernel(types)), types, false);
}

Case launch_new_config(Session& session) {
  const Types types = mixed_types(4);
  CUfunction function = load_function(session, session.empty_kernel(types), "empty");
  const auto arguments = std::make_shared<Arguments>(types, session.allocate(kMebibyte));
  const Driver& driver = session.driver();
  CUstream stream = session.stream();
  const auto run = [=, &driver](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      CUlaunchConfig config{};
      config.gridDimX = config.gridDimY = config.gridDimZ = 1;
      config.blockDimX = kThreads;
      config.blockDimY = config.blockDimZ = 1;
      config.hStream = stream;
      driver.check(driver.launch_kernel_ex(&config, function, arguments->pointers.data(), nullptr),
                   "cuLaunchKernelEx");
    }
  };
  return {run, settle(session)};
}

/// A captured graph of empty kernels, one after another.
CUgraph capture(Session& session, CUfunction function, int kernels, void** arguments) {
  const Driver& driver = session.driver();
  CUstream stream = session.stream();
  driver.check(driver.begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
               "cuStreamBeginCapture");
  for (int i = 0; i < kernels; ++i) {
    driver.check(
        driver.launch_kernel(function, 1, 1, 1, kThreads, 1, 1, 0, stream, arguments, nullptr),
        "cuLaunchKernel");
  }
  CUgraph graph = nullptr;
  driver.check(driver.end_capture(stream, &graph), "cuStreamEndCapture");
  return graph;
}

Case graph_launch(Session& session) {
  constexpr int kKernels = 20;
  const Driver& driver = session.driver();
  CUstream stream = session.stream();
  CUfunction function = load_function(session, session.empty_kernel({}), "empty");
  CUgraph graph = capture(session, function, kKernels, nullptr);
  CUgraphExec executable = nullptr;
  driver.check(driver.graph_instantiate(&executable, graph, 0), "cuGraphInstantiateWithFlags");
  const auto run = [=, &driver](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      driver.check(driver.graph_launch(executable, stream), "cuGraphLaunch");
    }
  };
  return {run, settle(session)};
}

/// Every launch of the graph gives every kernel other arguments.
Case graph_updates(Session& session) {
  constexpr std::size_t kKernels = 1000;
  const Driver& driver = session.driver();
  CUstream stream = session.stream();
  const Types types = mixed_types(4);
  CUfunction function = load_function(session, session.empty_kernel(types), "empty");
  const std::array arguments{std::make_shared<Arguments>(types, session.allocate(kMebibyte)),
                             std::make_shared<Arguments>(types, session.allocate(kMebibyte))};
  CUgraph graph = capture(session, function, kKernels, arguments[0]->pointers.data());
  std::vector<CUgraphNode> nodes(kKernels);
  std::size_t count = nodes.size();
  driver.check(driver.graph_nodes(graph, nodes.data(), &count), "cuGraphGetNodes");
  CUDA_KERNEL_NODE_PARAMS params{};
  driver.check(driver.kernel_node_params(nodes.front(), &params), "cuGraphKernelNodeGetParams");
  CUgraphExec executable = nullptr;
  driver.check(driver.graph_instantiate(&executable, graph, 0), "cuGraphInstantiateWithFlags");
  const auto run = [=, &driver](std::size_t n) mutable {
    for (std::size_t i = 0; i < n; ++i) {
      params.kernelParams = arguments.at(i % arguments.size())->pointers.data();
      for (CUgraphNode node : nodes) {
        driver.check(driver.set_kernel_node_params(executable, node, &params),
                     "cuGraphExecKernelNodeSetParams");
      }
      driver.check(driver.graph_launch(executable, stream), "cuGraphLaunch");
    }
  };
  return {run, settle(session)};
}

Case alloc_free(Session& session) {
  const Driver& driver = session.driver();
  CUstream stream = session.stream();
  CUmemoryPool pool = session.pool();
  const auto run = [=, &driver](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      CUdeviceptr pointer = 0;
      driver.check(driver.alloc_from_pool(&pointer, kMebibyte, pool, stream),
                   "cuMemAllocFromPoolAsync");
      driver.check(driver.free_async(pointer, stream), "cuMemFreeAsync");
    }
  };
  return {run, settle(session)};
}

CUevent new_event(const Driver& driver, unsigned flags) {
  CUevent event = nullptr;
  driver.check(driver.event_create(&event, flags), "cuEventCreate");
  return event;
}

Case event_record(Session& session) {
  const Driver& driver = session.driver();
  CUstream stream = session.stream();
  CUevent event = new_event(driver, CU_EVENT_DISABLE_TIMING);
  const auto run = [=, &driver](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      driver.check(driver.event_record(event, stream), "cuEventRecord");
    }
  };
  return {run, settle(session)};
}

Case event_elapsed(Session& session) {
  const Driver& driver = session.driver();
  CUevent start = new_event(driver, CU_EVENT_DEFAULT);
  CUevent end = new_event(driver, CU_EVENT_DEFAULT);
  driver.check(driver.event_record(start, session.stream()), "cuEventRecord");
  driver.check(driver.event_record(end, session.stream()), "cuEventRecord");
  session.sync();
  const auto run = [=, &driver](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      float milliseconds = 0;
      driver.check(driver.event_elapsed(&milliseconds, start, end), "cuEventElapsedTime");
    }
  };
  return {run, settle(session)};
}

Case event_create(Session& session) {
  const Driver& driver = session.driver();
  (void)session.stream();
  const auto run = [&driver](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      CUevent event = new_event(driver, CU_EVENT_DISABLE_TIMING);
      driver.check(driver.event_destroy(event), "cuEventDestroy");
    }
  };
  return {run, settle(session)};
}

Case stream_create(Session& session) {
  const Driver& driver = session.driver();
  (void)session.stream();
  const auto run = [&driver](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      CUstream stream = nullptr;
      driver.check(driver.stream_create(&stream, CU_STREAM_NON_BLOCKING, 0),
                   "cuStreamCreateWithPriority");
      driver.check(driver.stream_destroy(stream), "cuStreamDestroy");
    }
  };
  return {run, settle(session)};
}

Case stream_sync(Session& session) {
  const Driver& driver = session.driver();
  CUstream stream = session.stream();
  const auto run = [=, &driver](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      driver.check(driver.stream_synchronize(stream), "cuStreamSynchronize");
    }
  };
  return {run, settle(session)};
}

Case copy(Session& session, bool to_device) {
  const Driver& driver = session.driver();
  CUstream stream = session.stream();
  void* host = nullptr;
  driver.check(driver.alloc_host(&host, kKibibyte), "cuMemAllocHost");
  const auto pinned = reinterpret_cast<CUdeviceptr>(host);
  const CUdeviceptr device = session.allocate(kKibibyte);
  const CUdeviceptr target = to_device ? device : pinned;
  const CUdeviceptr source = to_device ? pinned : device;
  const auto run = [=, &driver](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      driver.check(driver.copy_async(target, source, kKibibyte, stream), "cuMemcpyAsync");
    }
  };
  return {run, settle(session)};
}

constexpr const char* kSaxpy =
    "extern \"C\" __global__ void saxpy(float a, const float* x, float* y, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n";

Case compile(Session& session) {
  const Nvrtc& nvrtc = session.nvrtc();
  const int arch = session.arch();
  // Different source each time, so that no cache can provide the result.
  const auto counter = std::make_shared<std::uint64_t>(0);
  const auto run = [=, &nvrtc](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      (void)nvrtc.cubin(kSaxpy + ("// " + std::to_string((*counter)++)), arch);
    }
  };
  return {run, [] {}};
}

}  // namespace

const Driver& Session::driver() {
  if (driver_ == nullptr) {
    driver_ = std::make_unique<Driver>();
  }
  return *driver_;
}

const Nvrtc& Session::nvrtc() {
  if (nvrtc_ == nullptr) {
    nvrtc_ = std::make_unique<Nvrtc>(nvrtc_path_);
  }
  return *nvrtc_;
}

CUdevice Session::device() {
  const Driver& api = driver();
  api.check(api.device_get(&device_, 0), "cuDeviceGet");
  return device_;
}

int Session::arch() {
  if (!arch_) {
    const Driver& api = driver();
    int major = 0;
    int minor = 0;
    api.check(api.device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device()),
              "cuDeviceGetAttribute");
    api.check(api.device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device()),
              "cuDeviceGetAttribute");
    arch_ = 10 * major + minor;
  }
  return *arch_;
}

CUstream Session::stream() {
  if (stream_ == nullptr) {
    const Driver& api = driver();
    // Not destroyed: the process ends with the benchmark, and the driver releases everything.
    CUcontext context = nullptr;
    api.check(api.primary_retain(&context, device()), "cuDevicePrimaryCtxRetain");
    api.check(api.set_current(context), "cuCtxSetCurrent");
    api.check(api.stream_create(&stream_, CU_STREAM_NON_BLOCKING, 0), "cuStreamCreateWithPriority");
  }
  return stream_;
}

CUmemoryPool Session::pool() {
  const Driver& api = driver();
  (void)stream();
  CUmemoryPool pool = nullptr;
  api.check(api.default_pool(&pool, device()), "cuDeviceGetDefaultMemPool");
  std::uint64_t keep_all = std::numeric_limits<std::uint64_t>::max();
  api.check(api.pool_set_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep_all),
            "cuMemPoolSetAttribute");
  return pool;
}

CUdeviceptr Session::allocate(std::size_t size) {
  const Driver& api = driver();
  CUdeviceptr pointer = 0;
  api.check(api.alloc_from_pool(&pointer, size, pool(), stream()), "cuMemAllocFromPoolAsync");
  sync();
  return pointer;
}

std::vector<char> Session::empty_kernel(const Types& types) {
  std::string source = "extern \"C\" __global__ void empty(";
  for (std::size_t i = 0; i < types.size(); ++i) {
    source += std::string(i == 0 ? "" : ", ") + types[i] + " a" + std::to_string(i);
  }
  (void)stream();
  return nvrtc().cubin(source + ") {}\n", arch());
}

void Session::sync() {
  driver().check(driver().stream_synchronize(stream()), "cuStreamSynchronize");
}

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (const std::size_t count : {0U, 1U, 4U, 16U, 64U, 256U}) {
    rows.push_back({"launch_" + std::to_string(count), {256, 200}, [count](Session& session) {
                      return launch_plain(session, mixed_types(count));
                    }});
  }
  rows.push_back({"arrays_16", {256, 200}, [](Session& session) {
                    return launch_plain(session, Types(16, kFour[0]));
                  }});
  // Three vectors, each with its length and stride, and a number, as a tile kernel takes them.
  rows.push_back({"launch_tile", {256, 200}, [](Session& session) {
                    Types types;
                    for (int i = 0; i < 3; ++i) types.insert(types.end(), {"float*", "int", "int"});
                    types.emplace_back("float");
                    return launch_plain(session, types);
                  }});
  rows.push_back({"launch_new_config", {256, 200}, launch_new_config});
  rows.push_back({"launch_library_kernel", {256, 200}, launch_library_kernel});
  rows.push_back({"launch_sync", {64, 200}, [](Session& session) {
                    return launch_plain(session, mixed_types(4), true);
                  }});
  rows.push_back({"graph_20", {32, 200}, graph_launch});
  rows.push_back({"recorded_1000", {2, 100}, graph_updates});
  rows.push_back({"alloc_free", {256, 200}, alloc_free});
  rows.push_back({"event_record", {256, 200}, event_record});
  rows.push_back({"event_elapsed", {256, 200}, event_elapsed});
  rows.push_back({"event_create", {256, 200}, event_create});
  rows.push_back({"stream_create", {16, 50}, stream_create});
  rows.push_back({"stream_sync", {256, 200}, stream_sync});
  rows.push_back({"copy_h2d", {128, 200}, [](Session& session) { return copy(session, true); }});
  rows.push_back({"copy_d2h", {128, 200}, [](Session& session) { return copy(session, false); }});
  rows.push_back({"compile", {1, 25}, compile});
  return rows;
}

void print_saxpy(Session& session) {
  constexpr int kCount = 1024;
  const Driver& driver = session.driver();
  CUstream stream = session.stream();
  CUfunction function =
      load_function(session, session.nvrtc().cubin(kSaxpy, session.arch()), "saxpy");
  std::vector<float> host(kCount, 1.0F);
  const std::size_t bytes = host.size() * sizeof(float);
  CUdeviceptr x = session.allocate(bytes);
  CUdeviceptr y = session.allocate(bytes);
  const auto source = reinterpret_cast<CUdeviceptr>(host.data());
  driver.check(driver.copy_async(x, source, bytes, stream), "cuMemcpyAsync");
  driver.check(driver.copy_async(y, source, bytes, stream), "cuMemcpyAsync");
  float a = 2.0F;
  int n = kCount;
  std::array<void*, 4> arguments{&a, &x, &y, &n};
  driver.check(driver.launch_kernel(function, kCount / 128, 1, 1, 128, 1, 1, 0, stream,
                                    arguments.data(), nullptr),
               "cuLaunchKernel");
  driver.check(driver.copy_async(source, y, bytes, stream), "cuMemcpyAsync");
  session.sync();
  std::printf("%.1f %.1f\n", static_cast<double>(host.front()), static_cast<double>(host.back()));
}

void print_sum(Session& session, const std::string& cubin) {
  std::ifstream file(cubin, std::ios::binary);
  const std::vector<char> code{std::istreambuf_iterator<char>(file), {}};
  const Driver& driver = session.driver();
  CUstream stream = session.stream();
  CUfunction function = load_function(session, code, "sum");
  CUdeviceptr out = session.allocate(sizeof(int));
  std::array<void*, 1> arguments{&out};
  driver.check(
      driver.launch_kernel(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments.data(), nullptr),
      "cuLaunchKernel");
  int sum = 0;
  driver.check(driver.copy_async(reinterpret_cast<CUdeviceptr>(&sum), out, sizeof(sum), stream),
               "cuMemcpyAsync");
  session.sync();
  std::printf("%d\n", sum);
}

}  // namespace bench

// The few calls of the CUDA driver that a launch takes, found in libcuda at run time: nothing of CUDA
// is needed to compile. A test compares these declarations with <cuda.h>.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "autotune/files.hpp"

struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;

namespace autotune::driver {

using Context = CUctx_st*;
using Module = CUmod_st*;
using Function = CUfunc_st*;
using Stream = CUstream_st*;  // also cudaStream_t
using Pointer = unsigned long long;

constexpr int multiprocessors = 16;        // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
constexpr int dynamic_shared_bytes = 8;    // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int stream_serialization = 6;    // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
enum Type { uint8 = 0, float16 = 6, float32 = 7, bfloat16 = 9 };  // CUtensorMapDataType

struct alignas(64) TensorMap {
    std::uint64_t opaque[16];
};

struct Attribute {
    int id;
    char pad[4];
    union alignas(8) {
        char bytes[64];
        int allowed;
    } value;
};

struct LaunchConfig {
    unsigned grid[3], threads[3];
    unsigned shared_bytes;
    Stream stream;
    Attribute* attributes;
    unsigned attribute_count;
};

// The driver's functions. One is enough for a process: see `calls`.
struct Calls {
    int (*init)(unsigned);
    int (*error_name)(int, const char**);
    int (*current)(Context*);
    int (*device)(int*);
    int (*attribute)(int*, int, int);
    int (*load)(Module*, const void*);
    int (*function)(Function*, Module, const char*);
    int (*set_attribute)(Function, int, int);
    int (*launch)(const LaunchConfig*, Function, void**, void**);
    int (*encode)(TensorMap*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*,
                  const std::uint32_t*, const std::uint32_t*, int, int, int, int);
    int (*allocate)(Pointer*, std::size_t, Stream);
    int (*release)(Pointer, Stream);

    Calls() {
        void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
        if (library == nullptr) throw Error("there is no NVIDIA driver: libcuda.so.1 is not found");
        find(library, "cuInit", init);
        find(library, "cuGetErrorName", error_name);
        find(library, "cuCtxGetCurrent", current);
        find(library, "cuCtxGetDevice", device);
        find(library, "cuDeviceGetAttribute", attribute);
        find(library, "cuModuleLoadData", load);
        find(library, "cuModuleGetFunction", function);
        find(library, "cuFuncSetAttribute", set_attribute);
        find(library, "cuLaunchKernelEx", launch);
        find(library, "cuTensorMapEncodeTiled", encode);
        find(library, "cuMemAllocAsync", allocate);
        find(library, "cuMemFreeAsync", release);
        check(init(0), "cuInit");
    }

    void check(int code, const char* what) const {
        if (code == 0) return;
        const char* name = nullptr;
        error_name(code, &name);
        throw Error(std::string(what) + ": " + (name ? name : "error " + std::to_string(code)));
    }

private:
    template <class Call>
    static void find(void* library, const char* name, Call& call) {
        call = reinterpret_cast<Call>(dlsym(library, name));
        if (call == nullptr) throw Error(std::string("the NVIDIA driver is too old: no ") + name);
    }
};

inline const Calls& calls() {
    static const Calls found;
    return found;
}

}  // namespace autotune::driver

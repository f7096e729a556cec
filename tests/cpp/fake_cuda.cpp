// Stands in for the CUDA driver where there is none: it prints what it is asked for.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "autotune/driver.hpp"

using namespace autotune::driver;

static std::uint64_t next = 0x1000;

extern "C" {

int cuInit(unsigned) { return 0; }
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR_REFUSED", 0; }
int cuCtxGetCurrent(Context* context) { return *context = reinterpret_cast<Context>(0x1), 0; }
int cuCtxGetDevice(int* device) { return *device = 0; }
int cuDeviceGetAttribute(int* value, int which, int) { return *value = which == 16 ? 132 : 0, 0; }

int cuModuleLoadData(Module* module, const void* image) {
    std::printf("load %s\n", std::memcmp(image, "\177ELF", 4) == 0 ? "elf" : "?");
    return *module = reinterpret_cast<Module>(0x2), 0;
}

int cuModuleGetFunction(Function* function, Module, const char* name) {
    std::printf("function %s\n", name);
    return *function = reinterpret_cast<Function>(std::strcmp(name, "pack") == 0 ? 0x3 : 0x4), 0;
}

int cuFuncSetAttribute(Function, int which, int value) {
    std::printf("attribute %d %d\n", which, value);
    return std::getenv("FAKE_REFUSES") != nullptr;
}

int cuTensorMapEncodeTiled(TensorMap* map, int type, std::uint32_t rank, void* at,
                           const std::uint64_t* extents, const std::uint64_t* pitches,
                           const std::uint32_t* box, const std::uint32_t* strides, int interleave,
                           int swizzle, int promotion, int fill) {
    map->opaque[0] = reinterpret_cast<std::uint64_t>(at);
    std::printf("map %d %u %llu %llu %llu %u %u %u %u %d %d %d %d\n", type, rank,
                static_cast<unsigned long long>(extents[0]), static_cast<unsigned long long>(extents[1]),
                static_cast<unsigned long long>(pitches[0]), box[0], box[1], strides[0], strides[1],
                interleave, swizzle, promotion, fill);
    return reinterpret_cast<std::uintptr_t>(map) % 64;
}

int cuMemAllocAsync(Pointer* pointer, std::size_t bytes, Stream) {
    std::printf("allocate %zu\n", bytes);
    return *pointer = next += 0x1000, 0;
}

int cuMemFreeAsync(Pointer pointer, Stream) { return std::printf("free %llx\n", pointer), 0; }

int cuLaunchKernelEx(const LaunchConfig* how, Function function, void** arguments, void**) {
    std::printf("launch %u %u %u / %u %u %u / %u / %d", how->grid[0], how->grid[1], how->grid[2],
                how->threads[0], how->threads[1], how->threads[2], how->shared_bytes,
                how->attribute_count == 1 && how->attributes->id == 6 && how->attributes->value.allowed);
    const int count = function == reinterpret_cast<Function>(0x3) ? 10 : std::atoi(std::getenv("FAKE_COUNT"));
    for (int i = 0; i < count; ++i) {
        std::int64_t word;
        std::memcpy(&word, arguments[i], sizeof word);
        std::printf(" %llx", static_cast<unsigned long long>(word));
    }
    return std::printf("\n"), 0;
}

}  // extern "C"

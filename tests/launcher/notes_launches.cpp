// Stands in for the CUDA driver where there is none: it prints what it is asked to launch, as the
// real <cuda.h> lays it out, and refuses what has no threads.
#include <cuda.h>

#include <cstdio>
#include <cstring>

extern "C" {

static CUresult nothing() { return CUDA_SUCCESS; }

static CUresult launched(const CUlaunchConfig* how, CUfunction function, void** arguments, void** extra) {
    if (how->blockDimX == 0) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    std::printf("grid %u %u %u block %u %u %u shared %u stream %p function %p extra %d",
                how->gridDimX, how->gridDimY, how->gridDimZ, how->blockDimX, how->blockDimY,
                how->blockDimZ, how->sharedMemBytes, static_cast<void*>(how->hStream),
                static_cast<void*>(function), extra != nullptr);
    for (unsigned i = 0; i < how->numAttrs; ++i)
        std::printf(" overlaps %d", how->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
                                        how->attrs[i].value.programmaticStreamSerializationAllowed == 1);
    std::printf(" arguments %llx %d\n", *static_cast<unsigned long long*>(arguments[0]),
                *static_cast<int*>(arguments[1]));
    return static_cast<CUresult>(std::fflush(stdout));
}

CUresult cuGetProcAddress_v2(const char* name, void** found, int, cuuint64_t,
                             CUdriverProcAddressQueryResult* status) {
    const bool get = std::strncmp(name, "cuGetProcAddress", 16) == 0;
    const bool launch = std::strcmp(name, "cuLaunchKernelEx") == 0;
    *found = get      ? reinterpret_cast<void*>(&cuGetProcAddress_v2)
             : launch ? reinterpret_cast<void*>(&launched)
                      : reinterpret_cast<void*>(&nothing);
    if (status != nullptr) *status = CU_GET_PROC_ADDRESS_SUCCESS;
    return CUDA_SUCCESS;
}

}  // extern "C"

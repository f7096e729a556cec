// The loader's own declarations are those of <cuda.h>.
#include <cuda.h>

#include <cstddef>
#include <type_traits>

#include "autotune/driver.hpp"

namespace ours = autotune::driver;

static_assert(std::is_same_v<ours::Stream, CUstream> && std::is_same_v<ours::Context, CUcontext>);
static_assert(std::is_same_v<ours::Pointer, CUdeviceptr>);
static_assert(sizeof(ours::TensorMap) == sizeof(CUtensorMap) && alignof(ours::TensorMap) == 64);
static_assert(sizeof(ours::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(ours::LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(ours::LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(ours::LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));
static_assert(sizeof(ours::Attribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(ours::Attribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(ours::multiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(ours::dynamic_shared_bytes == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(ours::stream_serialization == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(static_cast<int>(ours::uint8) == CU_TENSOR_MAP_DATA_TYPE_UINT8);
static_assert(static_cast<int>(ours::float16) == CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
static_assert(static_cast<int>(ours::float32) == CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
static_assert(static_cast<int>(ours::bfloat16) == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
static_assert(CU_TENSOR_MAP_SWIZZLE_32B == 1 && CU_TENSOR_MAP_SWIZZLE_128B == 3);
static_assert(CU_TENSOR_MAP_L2_PROMOTION_L2_128B == 2 && CU_TENSOR_MAP_L2_PROMOTION_L2_256B == 3);

int main() {}

// C = A * B, by whichever mechanism the generated config.h names.
//
// Two families of mechanisms, one file for each: threads that copy and warps that multiply, on
// every architecture from sm_80 on; tensor copies and warp-group products, on sm_90a.
#include "vocabulary.cuh"

#include "config.h"

#ifdef HOPPER
#include "hopper/gemm_hopper.cuh"
#else
#include "ampere/gemm_ampere.cuh"
#endif

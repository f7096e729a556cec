extern "C" __global__ void scale(float* x) { x[0] *= 2; }

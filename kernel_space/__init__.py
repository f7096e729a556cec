"""The kernels that ship: their spaces, launch geometry, references and CUDA sources."""

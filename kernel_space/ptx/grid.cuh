// Launches that overlap: what a kernel owes to the one before it on the stream, and to the next.
//
// A kernel that is launched so starts while the one before it still runs. It may set itself up,
// but must wait before it touches memory that others touch; every block of it must, or a third
// kernel could find the first one still at work.
#pragma once

// Waits until the launch before this one is over and what it wrote is visible.
__device__ __forceinline__ void wait_for_launch_before() {
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Lets the next launch start once every block has said so or has ended.
__device__ __forceinline__ void let_next_launch_start() {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

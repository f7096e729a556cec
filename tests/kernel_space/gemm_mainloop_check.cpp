// Compiled by the host's C++ compiler with a config.h of the test: does a main loop multiply every
// tile once, in order, and never read a place that does not hold it? Prints what goes wrong first.
#include "block.h"

#include "copy.cuh"
#if defined(CG_MEMCPY_ASYNC)
#include "mainloop_cg_memcpy_async.cuh"
#elif defined(PIPELINE_THREAD)
#include "mainloop_pipeline_thread.cuh"
#elif defined(PIPELINE_BLOCK)
#include "mainloop_pipeline_block.cuh"
#endif
#include "mainloop_cp_async.cuh"
#include "mainloop_mbarrier.cuh"
#include "mainloop_sync1.cuh"
#include "mainloop_sync2.cuh"
#include "mainloop_sync2_smem.cuh"
#include "mainloop_ws_cp_async.cuh"

namespace {

// Instead of multiplying, keeps account of what it is handed.
class Account {
   public:
    static constexpr int K_STEPS = config::TILE_K / 16;

    explicit Account(int tiles) : tiles_(tiles) {}

    void load(int set, u32 stage, int step) {
        emulated::block->yield();
        const int tile = loaded_ / K_STEPS, thread = threadIdx.x;
        if (step != loaded_ % K_STEPS) emulated::block->fault("a step is left out", thread, tile);
        sets_[set] = loaded_++;
        if (tile >= tiles_) return;  // fragments that nobody will multiply
        const int* places = landed[Copies::index(stage)];
        emulated::block->read([=] {
            for (int i = 0; i < COPIERS; ++i)
                if (places[i] != tile) return emulated::block->fault("not its tile", thread, tile);
        });
    }
    void multiply(int set) {
        emulated::block->finish_reads();
        if (sets_[set] != multiplied_)
            emulated::block->fault("not the next step", threadIdx.x, multiplied_ / K_STEPS);
        ++multiplied_;
    }
    bool complete() const { return multiplied_ == tiles_ * K_STEPS; }

   private:
    int tiles_, loaded_ = 0, multiplied_ = 0;
    int sets_[2] = {-1, -1};
};

void run_thread(int tiles) {
    Account account(tiles);
    Copies copies;
    Mainloop<config::MECHANISM>::run(account, copies, Copies::FIRST_STAGE, tiles);
    const int thread = threadIdx.x;
    if (thread < CONSUMERS && !account.complete())
        emulated::block->fault("not every tile is multiplied", thread, tiles);
    if (!emulated::block->thread().idle())
        emulated::block->fault("a thread ends before its copies", thread, tiles);
}

int faults_of(int tiles, int patience, unsigned seed) {
    for (auto& stage : landed)
        for (int& tile : stage) tile = -1;
    emulated::Block block(THREADS, patience, seed, [=] { run_thread(tiles); });
    emulated::block = &block;
    if (!block.run()) block.fault("everybody waits", 0, tiles);
    return block.faults;
}

}  // namespace

int main() {
    for (int tiles = 0; tiles < 2 * config::STAGES + 3; ++tiles)
        for (int patience : {1, 20, 1 << 30})
            for (unsigned seed = 0; seed < 2; ++seed)
                if (faults_of(tiles, patience, seed) > 0) return 0;
    return 0;
}

// A thread block on the host, as far as main loops can tell.
//
// The thread of the highest rank goes on until it must wait; ranks change now and then, as a seed
// decides, so that some threads run far ahead of others. A copy lands when it likes, and what a
// thread loads from shared memory is read no earlier than it must be: what the rules of the real
// thing allow shall happen here.
#pragma once

#include <ucontext.h>

#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#define __device__
#define __forceinline__ inline

struct {
    unsigned x;
} threadIdx;

namespace emulated {

using Action = std::function<void()>;

struct Batch {
    std::vector<Action> copies;      // those that have not landed
    std::vector<unsigned> arrivals;  // at these barriers, once all up to here have
};

struct Barrier {
    unsigned arrivals, missing, phase;
};

enum class Waits { nothing, warp, block, barrier, done };

struct Thread {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(64 << 10);
    std::deque<Batch> batches{1};  // the last is open
    std::vector<Action> reads;     // asked for, but not done
    Waits waits = Waits::nothing;
    unsigned barrier = 0, parity = 0;
    unsigned rank = 0;

    // It leaves neither a copy nor an arrival behind.
    bool idle() const {
        for (const Batch& batch : batches)
            if (!batch.copies.empty() || !batch.arrivals.empty()) return false;
        return true;
    }
};

class Block {
   public:
    std::map<unsigned, Barrier> barriers;
    int faults = 0;

    // Each thread runs `body`. In a turn a copy lands with a chance of 1 in `patience`.
    Block(int threads, int patience, unsigned seed, Action body)
        : threads_(threads), patience_(patience), random_(seed), body_(std::move(body)) {
        for (Thread& thread : threads_) prepare(thread);
    }

    // Returns false if threads wait for each other for ever.
    bool run() {
        while (true) {
            if (random() % patience_ == 0) land_one();
            open_barriers();
            const int next = highest();
            if (next >= 0)
                resume(next);
            else if (!land_one())
                return all_done();
        }
    }

    unsigned size() const { return threads_.size(); }
    Thread& thread() { return threads_[threadIdx.x]; }
    void yield() { swapcontext(&thread().context, &scheduler_); }
    void wait(Waits what) {
        thread().waits = what;
        yield();
    }
    void fault(const char* what, int thread, int tile) {
        if (faults++ == 0) std::printf("%s: thread %d, tile %d\n", what, thread, tile);
    }

    // A load that may be done now or as late as its result is used.
    void read(Action action) {
        thread().reads.push_back(std::move(action));
        if (random() % 2) finish_reads();
    }
    void finish_reads() {
        for (Action& read : std::exchange(thread().reads, {})) read();
    }

    // Lands all but the newest `pending` batches of the thread whose turn it is.
    void wait_for_copies(int pending) {
        Thread& mine = thread();
        for (int i = 0; i + pending + 1 < static_cast<int>(mine.batches.size()); ++i)
            for (Action& copy : std::exchange(mine.batches[i].copies, {})) copy();
        retire(mine);
    }
    void arrive(unsigned address) {
        Barrier& barrier = barriers.at(address);
        if (--barrier.missing > 0) return;
        barrier.missing = barrier.arrivals;
        ++barrier.phase;
    }
    // Arrivals come as soon as all copies before them have landed.
    void retire(Thread& thread) {
        while (thread.batches.size() > 1 && thread.batches.front().copies.empty()) {
            for (unsigned barrier : thread.batches.front().arrivals) arrive(barrier);
            thread.batches.pop_front();
        }
    }

   private:
    static void enter();
    unsigned random() { return (random_ = random_ * 1664525 + 1013904223) >> 16; }

    void prepare(Thread& thread) {
        thread.rank = random();
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.data();
        thread.context.uc_stack.ss_size = thread.stack.size();
        thread.context.uc_link = &scheduler_;
        makecontext(&thread.context, enter, 0);
    }
    // The ready thread of the highest rank, or -1.
    int highest() const {
        int best = -1;
        for (int i = 0; i < static_cast<int>(threads_.size()); ++i)
            if (is_ready(threads_[i]) && (best < 0 || threads_[i].rank > threads_[best].rank))
                best = i;
        return best;
    }
    bool all_done() const {
        for (const Thread& thread : threads_)
            if (thread.waits != Waits::done) return false;
        return true;
    }
    void resume(int index) {
        if (random() % 64 == 0) threads_[index].rank = random();
        threadIdx.x = index;
        thread().waits = Waits::nothing;
        swapcontext(&scheduler_, &thread().context);
    }
    bool is_ready(const Thread& thread) const {
        if (thread.waits == Waits::barrier)
            return barriers.at(thread.barrier).phase % 2 != thread.parity;
        return thread.waits == Waits::nothing;
    }
    // Lets go the threads of a warp, or of the block, that have all come to its barrier.
    void open_barriers() {
        const int count = threads_.size();
        for (int warp = 0; warp < count; warp += 32) open(Waits::warp, warp, warp + 32);
        open(Waits::block, 0, count);
    }
    void open(Waits what, int first, int end) {
        for (int i = first; i < end; ++i)
            if (threads_[i].waits != what) return;
        for (int i = first; i < end; ++i) threads_[i].waits = Waits::nothing;
    }
    // Lands one copy of some thread; returns false if none is on its way.
    bool land_one() {
        const int count = threads_.size(), first = random() % count;
        for (int i = 0; i < count; ++i) {
            Thread& some = threads_[(first + i) % count];
            for (Batch& batch : some.batches) {
                if (batch.copies.empty()) continue;
                const int which = random() % batch.copies.size();
                std::exchange(batch.copies[which], batch.copies.back())();
                batch.copies.pop_back();
                retire(some);
                return true;
            }
        }
        return false;
    }

    std::vector<Thread> threads_;
    int patience_;
    unsigned random_;
    Action body_;
    ucontext_t scheduler_;
};

inline Block* block = nullptr;

inline void Block::enter() {
    block->body_();
    block->thread().waits = Waits::done;
}

}  // namespace emulated

inline void __syncthreads() {
    emulated::block->finish_reads();  // loads stay before it in the order of a real warp
    emulated::block->wait(emulated::Waits::block);
}
inline void __syncwarp() { emulated::block->wait(emulated::Waits::warp); }

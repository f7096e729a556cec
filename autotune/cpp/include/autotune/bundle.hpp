// Launches the configs of a bundle through the CUDA driver. Link with -ldl on older systems.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "autotune/driver.hpp"
#include "autotune/files.hpp"
#include "autotune/gemm.hpp"
#include "autotune/lookup.hpp"

namespace autotune {

// Device addresses of what a product reads and writes; the scale of 8-bit floats is an address too.
struct Operands {
    driver::Pointer a, b, c, scale = 0;
};

// A bundle's folder with what its header says. It may be shared between threads; binaries are read,
// checked and loaded once for each context.
class Bundle {
public:
    template <std::size_t N>
    Bundle(std::string folder, const std::array<Binary, N>& binaries)
        : folder_(std::move(folder)), binaries_(binaries.begin(), binaries.end()) {}

    // Starts the product on the stream, in the current context, and returns before it is done.
    //
    // `choice` is what `lookup` says of the problem, and `config` is that choice's. Throws Error if
    // nothing serves the problem, a file is damaged or the driver refuses.
    template <class Config, std::size_t N>
    void multiply(Choice choice, const std::array<Launch, N>& launches, const Config& config,
                  const gemm::Problem& problem, const Operands& operands, driver::Stream stream) {
        for (const Launch& launch : launches) {
            if (!choice || launch.answer != choice.answer) continue;
            if (!gemm::serves(launch, config, problem)) continue;
            start(launch.binary, gemm::plan(launch, config, problem, multiprocessors()), operands, stream);
            return;
        }
        throw Error("the bundle has no binary for this problem");
    }

private:
    // Scratch that is given back in the order of the stream, whatever happens.
    class Scratch {
    public:
        Scratch(const gemm::Plan& plan, driver::Stream stream) : stream_(stream) {
            const auto& cuda = driver::calls();
            for (; count_ < plan.scratch_count; ++count_) {
                const auto bytes = static_cast<std::size_t>(plan.scratch[count_].bytes());
                const int code = cuda.allocate(&pointers_[count_], bytes, stream);
                if (code != 0) release();
                cuda.check(code, "cuMemAllocAsync");
            }
        }
        Scratch(const Scratch&) = delete;
        Scratch& operator=(const Scratch&) = delete;
        ~Scratch() { release(); }

        driver::Pointer operator[](std::size_t i) const { return pointers_[i]; }

    private:
        void release() {
            while (count_ > 0) driver::calls().release(pointers_[--count_], stream_);
        }

        driver::Stream stream_;
        std::array<driver::Pointer, 2> pointers_{};
        std::size_t count_ = 0;
    };

    // Arguments as the driver takes them: an array of their addresses.
    struct Packed {
        std::array<driver::TensorMap, 3> maps;
        std::array<std::int64_t, 12> words;
        std::array<void*, 12> addresses;
    };

    static std::int64_t multiprocessors() {
        const auto& cuda = driver::calls();
        int device = 0, count = 0;
        cuda.check(cuda.device(&device), "cuCtxGetDevice");
        cuda.check(cuda.attribute(&count, driver::multiprocessors, device), "cuDeviceGetAttribute");
        return count;
    }

    void start(std::uint32_t binary, const gemm::Plan& plan, const Operands& operands,
               driver::Stream stream) {
        const Scratch scratch(plan, stream);
        std::array<driver::Pointer, 7> at{operands.a, operands.b, operands.c, operands.scale, 0, 0, 0};
        for (std::size_t i = 0; i < plan.scratch_count; ++i)
            at[static_cast<std::size_t>(plan.scratch[i].array)] = scratch[i];
        for (std::size_t i = 0; i < plan.step_count; ++i) start(binary, plan.steps[i], at, stream);
    }

    void start(std::uint32_t binary, const gemm::Step& step, const std::array<driver::Pointer, 7>& at,
               driver::Stream stream) {
        const auto& cuda = driver::calls();
        Packed packed;
        pack(step, at, packed);
        driver::Attribute overlap{};
        overlap.id = driver::stream_serialization;
        overlap.value.allowed = 1;
        const driver::LaunchConfig how{{step.grid[0], step.grid[1], step.grid[2]},
                                       {step.threads[0], step.threads[1], step.threads[2]},
                                       step.shared_bytes,
                                       stream,
                                       &overlap,
                                       step.overlaps ? 1u : 0u};
        const driver::Function function = loaded(binary, step);
        cuda.check(cuda.launch(&how, function, packed.addresses.data(), nullptr), "cuLaunchKernelEx");
    }

    static void pack(const gemm::Step& step, const std::array<driver::Pointer, 7>& at, Packed& packed) {
        std::size_t maps = 0;
        for (std::size_t i = 0; i < step.argument_count; ++i) {
            const gemm::Argument& argument = step.arguments[i];
            const driver::Pointer pointer = at[static_cast<std::size_t>(argument.matrix.array)];
            packed.addresses[i] = &packed.words[i];  // integers of 32 bits are the lower half
            packed.words[i] = argument.value;
            if (argument.kind == gemm::Argument::Kind::pointer)
                packed.words[i] = static_cast<std::int64_t>(pointer);
            if (argument.kind == gemm::Argument::Kind::tensor_map) {
                packed.addresses[i] = &packed.maps[maps];
                encode(packed.maps[maps++], argument, pointer);
            }
        }
    }

    static void encode(driver::TensorMap& map, const gemm::Argument& argument, driver::Pointer at) {
        constexpr int types[] = {driver::uint8, driver::bfloat16, driver::float16, driver::float32};
        const gemm::Matrix& matrix = argument.matrix;
        const std::uint64_t extents[] = {static_cast<std::uint64_t>(matrix.columns),
                                         static_cast<std::uint64_t>(matrix.rows)};
        const std::uint64_t pitch = extents[0] * static_cast<std::uint64_t>(size_bytes(matrix.element));
        const std::uint32_t box[] = {argument.map.box_columns, argument.map.box_rows}, ones[] = {1, 1};
        const std::uint32_t bytes = argument.map.swizzle_bytes, promoted = argument.map.l2_promotion_bytes;
        const int swizzle = bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0;
        const int promotion = promoted == 256 ? 3 : promoted == 128 ? 2 : promoted == 64 ? 1 : 0;
        const int type = types[static_cast<std::size_t>(matrix.element)];
        const auto& cuda = driver::calls();
        cuda.check(cuda.encode(&map, type, 2, reinterpret_cast<void*>(at), extents, &pitch, box, ones, 0,
                               swizzle, promotion, 0),
                   "cuTensorMapEncodeTiled");
    }

    driver::Function loaded(std::uint32_t binary, const gemm::Step& step) {
        const auto& cuda = driver::calls();
        driver::Context context = nullptr;
        cuda.check(cuda.current(&context), "cuCtxGetCurrent");
        if (context == nullptr) throw Error("no CUDA context is current");
        const std::string entry(step.entry.empty() ? binaries_[binary].entry : step.entry);
        const std::lock_guard<std::mutex> lock(mutex_);
        Loaded& found = functions_[{context, binary, entry}];
        if (found.function == nullptr) {
            const driver::Module module = module_of(context, binary);
            cuda.check(cuda.function(&found.function, module, entry.c_str()), "cuModuleGetFunction");
        }
        if (step.shared_bytes > found.shared_bytes) {
            cuda.check(cuda.set_attribute(found.function, driver::dynamic_shared_bytes,
                                          static_cast<int>(step.shared_bytes)),
                       "cuFuncSetAttribute");
            found.shared_bytes = step.shared_bytes;
        }
        return found.function;
    }

    driver::Module module_of(driver::Context context, std::uint32_t binary) {
        driver::Module& module = modules_[{context, binary}];
        if (module == nullptr) {
            const std::vector<char> image = checked_content(folder_, binaries_[binary]);
            driver::calls().check(driver::calls().load(&module, image.data()), "cuModuleLoadData");
        }
        return module;
    }

    struct Loaded {
        driver::Function function = nullptr;
        std::uint32_t shared_bytes = 0;
    };

    std::string folder_;
    std::vector<Binary> binaries_;
    std::mutex mutex_;
    std::map<std::pair<driver::Context, std::uint32_t>, driver::Module> modules_;
    std::map<std::tuple<driver::Context, std::uint32_t, std::string>, Loaded> functions_;
};

}  // namespace autotune

// Files of a bundle: read whole, compared with their SHA-256, and only then handed out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/launch.hpp"

namespace autotune {

// What is wrong, in one line.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

namespace detail {

// SHA-256 as FIPS 180-4 defines it.
class Sha256 {
public:
    static std::string hex(const std::vector<char>& data) {
        Sha256 hash;
        const auto* bytes = reinterpret_cast<const unsigned char*>(data.data());
        std::size_t at = 0;
        for (; at + 64 <= data.size(); at += 64) hash.add(bytes + at);
        std::array<unsigned char, 128> tail{};
        const std::size_t rest = data.size() - at, length = rest < 56 ? 64 : 128;
        for (std::size_t i = 0; i < rest; ++i) tail[i] = bytes[at + i];
        tail[rest] = 0x80;
        const std::uint64_t bits = std::uint64_t{data.size()} * 8;
        for (std::size_t i = 0; i < 8; ++i)
            tail[length - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
        for (std::size_t i = 0; i < length; i += 64) hash.add(tail.data() + i);
        std::string text;
        for (std::uint32_t word : hash.state_)
            for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
        return text;
    }

private:
    static std::uint32_t turned(std::uint32_t x, int by) { return x >> by | x << (32 - by); }

    void add(const unsigned char* bytes) {
        std::array<std::uint32_t, 64> w{};
        for (std::size_t i = 0; i < 16; ++i)
            w[i] = std::uint32_t{bytes[4 * i]} << 24 | std::uint32_t{bytes[4 * i + 1]} << 16 |
                   std::uint32_t{bytes[4 * i + 2]} << 8 | std::uint32_t{bytes[4 * i + 3]};
        for (std::size_t i = 16; i < 64; ++i) {
            const std::uint32_t x = w[i - 15], y = w[i - 2];
            w[i] = w[i - 16] + w[i - 7] + (turned(x, 7) ^ turned(x, 18) ^ x >> 3) +
                   (turned(y, 17) ^ turned(y, 19) ^ y >> 10);
        }
        std::array<std::uint32_t, 8> s = state_;
        for (std::size_t i = 0; i < 64; ++i) {
            const std::uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
            const std::uint32_t most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
            const std::uint32_t first =
                s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) + choice + k_[i] + w[i];
            const std::uint32_t second =
                (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) + most;
            s = {first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
        }
        for (std::size_t i = 0; i < 8; ++i) state_[i] += s[i];
    }

    // Fractions of the cube and square roots of the first primes, as FIPS 180-4 lists them.
    static constexpr std::array<std::uint32_t, 64> k_{
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
    };
    std::array<std::uint32_t, 8> state_{
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
};

}  // namespace detail

// Returns the content of one file of the bundle in `folder`.
//
// Throws Error if it is not there, or is not what the header says.
inline std::vector<char> checked_content(const std::string& folder, const Binary& binary) {
    const std::string path = folder + "/" + std::string(binary.file);
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error(path + ": cannot be read");
    std::vector<char> content(binary.bytes + 1);
    file.read(content.data(), static_cast<std::streamsize>(content.size()));
    content.resize(static_cast<std::size_t>(file.gcount()));
    if (content.size() != binary.bytes)
        throw Error(path + ": is not " + std::to_string(binary.bytes) + " bytes long");
    if (detail::Sha256::hex(content) != binary.sha256)
        throw Error(path + ": is damaged: its SHA-256 is another");
    return content;
}

}  // namespace autotune

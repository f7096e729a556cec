// The lookup of a tuned table: exact, else by a tree, else nearest, else the kernel's default, else
// nothing.
//
// It answers as autotune.dispatch does in Python. The distance of two problems is the sum over the
// scaled fields of weight * |steps(a) - steps(b)|, steps(v) = round(log2(max(v, 1)) * 2^32), in whole
// numbers; of two entries at one distance the smaller problem wins. Nothing is allocated.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace autotune {

// Where an answer comes from.
enum class Source : std::uint8_t { exact, tree, nearest, fallback, none };

// What a lookup returns: the place of a config among the table's, entries first, then defaults.
struct Choice {
    Source source = Source::none;
    std::uint32_t answer = 0;

    explicit constexpr operator bool() const { return source != Source::none; }
};

// When an answer may serve a problem: one scaled field is a multiple of a power of two, which the
// mask tells, and of an odd number; and it is at_least so much and no more than span above that.
struct Condition {
    std::uint32_t field;
    std::int64_t mask, odd, at_least;
    std::uint64_t span;
};

// Places first to last - 1 of an array.
struct Range {
    std::uint32_t first, last;
};

// Cells along one scaled field, from the lowest quarter of an octave on; the next cell of this field
// is `stride` cells further. Quarters are equal in size, not on the scale: 4 to 5, 5 to 6, 6 to 7, 7 to 8.
struct Axis {
    std::int32_t lowest, last, stride;
};

// What a table has for one choice of the exact fields: conditions, of which each answer needs some,
// the strictest of each field, which hold if all do, and grids of cells that tell which entries can be
// nearest. A problem in cell i has the candidates cells[i] to cells[i + 1] - 1. There is a grid of the
// entries that are left for each combination of conditions that a problem may break, a bit for each;
// or, where these are too many, one for problems that break none, and one of all entries for others.
template <std::size_t Fields>
struct Group {
    Range conditions, defaults;
    std::array<Condition, Fields> strictest;
    std::array<Axis, Fields> axes;
    std::int32_t shift;  // a cell spans 2^shift quarters
    std::uint32_t grids;  // its first place in Data::grids
    bool masked;
    std::uint32_t tree;  // its first step, or no_point
};

// A step of a tree: a question, and both that it may lead to, of which all are asked at once, because
// what the answer to one is to be waits for the one before. Up to at_most of a measure is the low side.
// They lead to one of four steps from next on. An end leads to itself, whatever is measured, so that
// all walks through a tree take as many rounds.
struct Step {
    std::array<std::uint64_t, 3> at_most;
    std::uint32_t next;
    std::array<std::uint32_t, 3> measure;
};

// A default of a group, with a bit for each condition that it needs.
struct Default {
    std::uint64_t needs;
    std::uint32_t answer;
};

constexpr std::uint32_t no_point = 0xffffffff;
constexpr std::uint32_t no_grid = 0xffffffff;
constexpr std::int32_t no_group = -1;

template <std::size_t N>
constexpr std::optional<std::size_t> index_of(const std::array<std::string_view, N>& names,
                                              std::string_view text) {
    for (std::size_t i = 0; i < N; ++i)
        if (names[i] == text) return i;
    return std::nullopt;
}

// A place on the scale on which nearness is measured.
inline std::int64_t steps(std::int64_t value) {
    const double octaves = std::log2(static_cast<double>(value > 1 ? value : 1));
    return std::llrint(octaves * 4294967296.0);  // halves to even, as Python rounds
}

namespace detail {

// Calls visit for 0 to Fields - 1, without a loop.
template <class Visit, std::size_t... F>
void each([[maybe_unused]] Visit visit, std::index_sequence<F...>) {
    (visit(std::integral_constant<std::size_t, F>{}), ...);
}

template <std::size_t Fields, class Visit>
void each_field(Visit visit) {
    each(visit, std::make_index_sequence<Fields>{});
}

// A size as a double: its bits hold whole octaves, then the mantissa.
inline std::uint64_t bits_of(std::int64_t size) {
    const double value = static_cast<double>(size > 1 ? size : 1);
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits - (std::uint64_t{1023} << 52);
}

inline std::int32_t quarters(std::uint64_t bits) { return static_cast<std::int32_t>(bits >> 50); }

// log2(1 + t) - t in steps, in the middle of each of 2048 intervals of t; found by squaring.
constexpr std::array<std::int32_t, 2048> bulges() {
    std::array<std::int32_t, 2048> found{};
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double t = (static_cast<double>(i) + 0.5) / 2048.0;
        double power = 1.0 + t, octaves = 0.0, bit = 1.0;
        for (int n = 0; n < 32; ++n) {
            power *= power;
            bit /= 2.0;
            if (power < 2.0) continue;
            power /= 2.0;
            octaves += bit;
        }
        found[i] = static_cast<std::int32_t>((octaves - t) * 4294967296.0);
    }
    return found;
}

inline constexpr std::array<std::int32_t, 2048> bulge = bulges();

// steps(size), but for an error of less than Data::slack / 2 in a distance. The bits of a double are
// whole octaves, then t.
inline std::int64_t about(std::uint64_t bits) {
    return static_cast<std::int64_t>(bits >> 20) + bulge[(bits >> 41) & 2047];
}

// It does not branch on the size: what breaks cannot be predicted.
inline bool breaks(std::int64_t size, const Condition& c) {
    const bool bad = ((size & c.mask) != 0) | (static_cast<std::uint64_t>(size - c.at_least) > c.span);
    return c.odd == 1 ? bad : bad | (size % c.odd != 0);
}

// Returns a bit for each condition that these sizes break.
template <class Data>
std::uint64_t broken(const Group<Data::fields>& group,
                     const std::array<std::int64_t, Data::fields>& sizes) {
    bool any = false;
    each_field<Data::fields>([&](auto f) { any |= breaks(sizes[f], group.strictest[f]); });
    std::uint64_t bits = 0;
    if (!any) return bits;
    for (std::uint32_t i = group.conditions.first; i < group.conditions.last; ++i) {
        const Condition& c = Data::conditions[i];
        bits |= std::uint64_t{breaks(sizes[c.field], c)} << (i - group.conditions.first);
    }
    return bits;
}

template <class Data>
std::uint32_t exact(std::uint32_t group, const std::array<std::int64_t, Data::fields>& sizes) {
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15u;
    std::uint64_t hash = group;  // digits of a number whose base is as good as random
    each_field<Data::fields>(
        [&](auto f) { hash += Data::factors[f] * static_cast<std::uint64_t>(sizes[f]); });
    hash = (hash ^ (hash >> 32)) * spread;
    for (std::size_t slot = hash >> Data::slot_shift;; slot = (slot + 1) % Data::slots.size()) {
        const std::uint32_t point = Data::slots[slot];
        if (point == no_point) return no_point;
        if (Data::group_of[point] == group && Data::sizes[point] == sizes) return point;
    }
}

// Where the tree of a group leads. Its entry may need what the problem breaks.
template <class Data>
std::uint32_t led(const Group<Data::fields>& group,
                  const std::array<std::int64_t, Data::fields>& sizes) {
    constexpr std::int64_t most = std::int64_t{1} << 30;  // so that two of them multiply in 64 bits
    std::array<std::uint64_t, Data::fields> small{};
    each_field<Data::fields>(
        [&](auto f) { small[f] = static_cast<std::uint64_t>(sizes[f] < most ? sizes[f] : most); });
    const auto measured = Data::measured(small);
    std::uint32_t at = group.tree;
    for (unsigned i = 0; i < Data::rounds; ++i) {
        const Step& step = Data::steps[at];
        const auto high = [&](unsigned q) {
            return unsigned{measured[step.measure[q]] > step.at_most[q]};
        };
        const unsigned first = high(0), low_side = high(1), high_side = high(2);
        at = step.next + 2 * first + (first != 0 ? high_side : low_side);
    }
    return Data::ends[at];
}

template <class Data>
class Nearest {
public:
    using Sizes = std::array<std::int64_t, Data::fields>;

    Nearest(const Group<Data::fields>& group, const Sizes& sizes, std::uint64_t broken)
        : sizes_(sizes), broken_(broken) {
        const std::uint32_t grid = Data::grids[group.grids + (group.masked ? broken : broken != 0)];
        if (grid == no_grid) return;
        std::int32_t cell = 0;
        each_field<Data::fields>([&](auto f) {
            const Axis& axis = group.axes[f];
            const std::int32_t at = (quarters(bits_of(sizes[f])) - axis.lowest) >> group.shift;
            cell += (at < 0 ? 0 : at < axis.last ? at : axis.last) * axis.stride;
        });
        const auto at = static_cast<std::size_t>(grid) + static_cast<std::size_t>(cell);
        first_ = Data::cells[at];
        last_ = Data::cells[at + 1];
    }

    // Distances are nearly right. Where these cannot tell two candidates apart, exact ones do.
    std::uint32_t point() const {
        if (first_ == last_) return no_point;
        if (last_ - first_ == 1) {
            const std::uint32_t only = Data::candidates[first_];
            return left(only) ? only : no_point;
        }
        Sizes here{};
        each_field<Data::fields>([&](auto f) { here[f] = Data::weights[f] * about(bits_of(sizes_[f])); });
        std::uint32_t best = no_point;
        std::int64_t least = far, second = far;
        for (std::uint32_t at = first_; at < last_; ++at) {
            const std::uint32_t point = Data::candidates[at];
            const std::int64_t distance = distance_to(point, here);
            const bool nearer = distance < least;
            second = nearer ? least : (distance < second ? distance : second);
            best = nearer ? point : best;
            least = nearer ? distance : least;
        }
        return second - least > Data::slack || least == far ? best : decided();
    }

private:
    static constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max() / 2;

    bool left(std::uint32_t point) const { return (Data::needs[point] & broken_) == 0; }

    // What a broken condition excludes is as far as can be.
    std::int64_t distance_to(std::uint32_t point, const Sizes& here) const {
        std::int64_t total = 0;
        each_field<Data::fields>([&](auto f) { total += std::abs(Data::places[point][f] - here[f]); });
        return left(point) ? total : far;
    }

    std::uint32_t decided() const {
        std::uint32_t best = no_point;
        std::int64_t least = far;
        Sizes here{};
        each_field<Data::fields>([&](auto f) { here[f] = Data::weights[f] * steps(sizes_[f]); });
        for (std::uint32_t at = first_; at < last_; ++at) {
            const std::uint32_t point = Data::candidates[at];
            const std::int64_t distance = distance_to(point, here);
            if (distance > least || distance == far) continue;
            if (distance == least && !(Data::sizes[point] < Data::sizes[best])) continue;
            least = distance;
            best = point;
        }
        return best;
    }

    const Sizes& sizes_;
    std::uint64_t broken_;
    std::uint32_t first_ = 0, last_ = 0;
};

}  // namespace detail

// Answers for the problem of these sizes in a group. Data is what `autotune header` writes.
template <class Data>
Choice lookup(std::int32_t group, const std::array<std::int64_t, Data::fields>& sizes) {
    if (group == no_group) return {};
    bool negative = false;
    detail::each_field<Data::fields>([&](auto f) { negative |= sizes[f] < 0; });
    if (negative) return {};
    const auto index = static_cast<std::uint32_t>(group);
    const std::uint32_t found = detail::exact<Data>(index, sizes);
    if (found != no_point) return {Source::exact, found};  // entries stand in the table's order
    const Group<Data::fields>& members = Data::groups[index];
    const std::uint64_t broken = detail::broken<Data>(members, sizes);
    if constexpr (Data::rounds != 0) {
        if (members.tree != no_point) {
            const std::uint32_t entry = detail::led<Data>(members, sizes);
            if ((Data::needs[entry] & broken) == 0) return {Source::tree, entry};
        }
    }
    const std::uint32_t point = detail::Nearest<Data>(members, sizes, broken).point();
    if (point != no_point) return {Source::nearest, point};
    for (std::uint32_t i = members.defaults.first; i < members.defaults.last; ++i)
        if ((Data::defaults[i].needs & broken) == 0)
            return {Source::fallback, Data::defaults[i].answer};
    return {};
}

}  // namespace autotune

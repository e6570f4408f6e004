// Finds the few lines of a huge log that can matter: every other line is never parsed, so a 200 MB log costs
// what reading it costs.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace gpucheck::host {

/// Searches for any of many short texts at once. A window of four bytes is chosen in each text; three table
/// look-ups a byte (or one shuffle for 32 bytes, after the "Teddy" method of Hyperscan) tell where a window
/// may stand, and only there the text is compared.
class Prefilter {
  public:
    static constexpr std::size_t kWindow = 4;
    static constexpr std::size_t kNone = ~std::size_t{0};

    /// Texts shorter than the window are ignored (a test demands that there are none).
    explicit Prefilter(const std::vector<std::string>& texts);

    /// Offset of the first occurrence of any text in `data` at or after `from`; kNone when there is none.
    /// Uses AVX2 where the processor has it.
    std::size_t find(std::string_view data, std::size_t from) const { return find_(*this, data, from); }
    /// The same without vector instructions: the reference that tests compare with.
    std::size_t find_scalar(std::string_view data, std::size_t from) const;
    bool vectorised() const;

    static constexpr std::size_t kBuckets = 8;
    struct Text {
        std::string text;
        std::size_t offset = 0;  ///< of its window
    };

    /// Offset of a text whose window stands at `at`, trying the buckets in `mask`; kNone when none does.
    std::size_t confirm(std::string_view data, std::size_t at, unsigned mask, std::size_t from) const;

    /// Hash of the four bytes at `at`.
    static std::size_t hash_of(const char* at) {
        std::uint32_t word = 0;
        std::memcpy(&word, at, sizeof word);
        return (word * 0x9e3779b1U) >> 20U;
    }

    std::array<std::vector<Text>, kBuckets> buckets;
    std::bitset<4096> windows;                                           ///< hashes of all windows
    std::array<std::array<std::uint8_t, 256>, kWindow> exact{};  ///< [position][byte] -> buckets
    std::array<std::array<std::uint8_t, 16>, kWindow> low{},
        high{};  ///< the same by nibbles, for the shuffle

  private:
    using Find = std::size_t (*)(const Prefilter&, std::string_view, std::size_t);
    Find find_;
};

/// How many newlines `data` holds.
std::size_t count_newlines(std::string_view data);

#if defined(__x86_64__)
std::size_t find_avx2(const Prefilter& filter, std::string_view data, std::size_t from);
std::size_t count_newlines_avx2(std::string_view data);
#endif

}  // namespace gpucheck::host

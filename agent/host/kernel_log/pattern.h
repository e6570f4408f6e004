// The small pattern language of events.json: literal text and typed captures, matched in linear time with no
// backtracking to blow up on hostile lines.
//
//   {n}      a decimal number, maybe negative; {n>0} {n<6} {n=-2} {n!=0} test it
//   {hex}    hexadecimal digits after an optional 0x; {hex>0} tests it
//   {bdf}    a PCI address in any spelling the drivers use, "PCI:" in front allowed
//   {word}   letters, digits and _ - . ; {unit} the same and colons, kept as the part that failed
//   {*}      anything, as little as possible; must be followed by literal text
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/model/bdf.h"

namespace gpucheck::host {

struct Captures {
    std::optional<Bdf> bdf;
    std::optional<std::int64_t> number;  ///< the first {n}
    std::optional<std::uint64_t> hex;    ///< the first {hex}
    std::string_view unit;
};

/// Which pairs of neighbouring bytes a line holds (case folded, hashed): most patterns are refused by a few
/// bit tests.
class LineFilter {
  public:
    static constexpr std::size_t kWords = 64;
    static constexpr std::uint16_t kAlways = 4095;  ///< set for every line
    using Bits = std::array<std::uint64_t, kWords>;

    void set(std::string_view line);
    const Bits& bits() const { return bits_; }
    bool may_hold(const std::vector<std::uint16_t>& pairs) const {
        for (const std::uint16_t pair : pairs) {
            if (!holds(pair)) return false;
        }
        return true;
    }
    static std::uint16_t pair_of(char a, char b);

  private:
    bool holds(std::uint16_t pair) const { return ((bits_[pair >> 6U] >> (pair & 63U)) & 1U) != 0; }
    Bits bits_{};  ///< pairs hash to 0..4094
};

class Pattern {
  public:
    /// nullopt when `text` is not in the language.
    static std::optional<Pattern> compile(std::string_view text, bool ignore_case);

    bool may_match(const LineFilter& filter) const { return filter.may_hold(pairs_); }
    /// Its pairs, the telling ones first; {kAlways} when it has none.
    const std::vector<std::uint16_t>& pairs() const { return pairs_; }
    /// Looks for the pattern anywhere in `line`.
    bool matches(std::string_view line, Captures& captures) const;
    /// Does one of its literal texts hold `text`?
    bool says(std::string_view text) const;
    /// Its longest literal text.
    std::string_view longest_literal() const;
    bool names_device() const;

  private:
    enum class Kind : std::uint8_t { literal, number, hex, bdf, word, unit, any };
    enum class Test : std::uint8_t { none, equal, unequal, greater, less };
    struct Piece {
        Kind kind = Kind::literal;
        Test test = Test::none;
        std::int64_t operand = 0;
        std::string text;
        std::size_t rare = 0;  ///< the byte of `text` to search for first
    };

    enum class Outcome : std::uint8_t { no, never, yes };  ///< never: no later beginning can match either
    Outcome at(std::string_view line, std::size_t begin, Captures& captures) const;
    bool piece(const Piece& piece, std::string_view line, std::size_t& at, Captures& captures) const;
    std::size_t find(std::string_view line, const Piece& literal, std::size_t from) const;
    bool equal(std::string_view a, std::string_view b) const;
    static std::optional<Piece> capture_of(std::string_view inside);
    static bool holds(const Piece& piece, std::int64_t value);

    std::vector<Piece> pieces_;
    std::vector<std::uint16_t> pairs_;
    bool ignore_case_ = false;
};

}  // namespace gpucheck::host

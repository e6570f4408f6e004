// Names that repeat in every report of a fleet, each kept once: four hundred nodes speak of the same forty
// codes.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gpucheck::fleet {

/// An index into a Vocabulary. `kNoName` (0) is the empty name: "not known".
using Name = std::uint32_t;
constexpr Name kNoName = 0;

/// Two names are equal when their numbers are. Numbers depend on the order of input: never print them, never
/// sort by them.
class Vocabulary {
  public:
    Vocabulary() { intern(""); }
    Vocabulary(const Vocabulary&) = delete;
    Vocabulary& operator=(const Vocabulary&) = delete;
    Vocabulary(Vocabulary&&) = default;
    Vocabulary& operator=(Vocabulary&&) = default;

    Name intern(std::string_view text) {
        const auto known = numbers_.find(text);
        if (known != numbers_.end()) return known->second;
        const std::string& kept = texts_.emplace_back(text);
        const Name number = static_cast<Name>(texts_.size() - 1);
        numbers_.emplace(kept, number);
        return number;
    }
    /// kNoName when the text was never interned.
    Name find(std::string_view text) const {
        const auto known = numbers_.find(text);
        return known == numbers_.end() ? kNoName : known->second;
    }
    const std::string& text(Name name) const { return texts_.at(name); }
    std::size_t size() const { return texts_.size(); }

  private:
    std::deque<std::string> texts_;  // addresses stay: the map's keys point into it
    std::unordered_map<std::string_view, Name> numbers_;
};

}  // namespace gpucheck::fleet

// JSON that stands inside a script element: one unescaped "</script>" in a hostname would let a machine run
// its own script in the page that judges it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpucheck::fleet {

/// Appends values with their commas. Members and elements are written in the order of the calls.
class JsonText {
  public:
    void open(char bracket);  ///< '{' or '['
    void close(char bracket);
    void key(std::string_view ours);
    /// Made visible (report::plain), cut, and nothing left that HTML or JavaScript could obey.
    void text(std::string_view theirs, std::size_t max_bytes = 300);
    void whole(std::int64_t number);
    /// Five significant digits; null where there is no such number.
    void number(double value);
    void yes_no(bool value);
    void null();

    void wholes(std::string_view name, std::span<const std::int64_t> column);
    void numbers(std::string_view name, std::span<const double> column);
    void texts(std::string_view name, std::span<const std::string> column, std::size_t max_bytes = 300);
    void member(std::string_view name, std::string_view value) {
        key(name);
        text(value);
    }

    const std::string& str() const { return out_; }

  private:
    void separate();
    std::string out_;
    bool comma_ = false;
};

/// Five significant digits, shortest spelling; empty where there is no such number.
std::string short_number(double value);

/// Texts that repeat, each once, numbered by first use: the same page whatever a Vocabulary's numbers are.
class TextTable {
  public:
    TextTable() { number(""); }
    std::int64_t number(std::string_view text);
    const std::vector<std::string>& all() const { return texts_; }

  private:
    std::vector<std::string> texts_;
    std::unordered_map<std::string, std::int64_t> numbers_;
};

}  // namespace gpucheck::fleet

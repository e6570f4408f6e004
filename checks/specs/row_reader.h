// Reads the members of data rows by type and range, and keeps the first complaint with its place: a wrong
// unit or a misspelt field in a data file must stop gpucheck, not weaken a check.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "checks/json/json.h"

namespace gpucheck {

/// A number as printed, or the range where documents disagree.
struct Figure {
    double low = 0, high = 0;
    bool operator==(const Figure&) const = default;
};

/// All members are read through one reader; after the first complaint the results mean nothing.
class RowReader {
  public:
    explicit RowReader(std::string file) : file_(std::move(file)) {}

    /// Names the row in complaints: "row 3 (mi300x)".
    void at_row(std::string row) { row_ = std::move(row); }
    bool ok() const { return error_.empty(); }
    /// "gpus.json: row 3 (mi300x): memory: unknown field 'bandwith'".
    const std::string& error() const { return error_; }
    /// Keeps the first one only.
    void complain(std::string_view what);

    /// True when `value` is an object whose members are all in `allowed`.
    bool object(const Json& value, std::string_view name, std::initializer_list<std::string_view> allowed);
    /// The member, or nullptr; no complaint.
    static const Json* member(const Json& object, std::string_view key);
    /// The member as an array or object; nullptr when absent, a complaint when it is of another type.
    const Json* array(const Json& object, std::string_view key);
    const Json* group(const Json& object, std::string_view key,
                      std::initializer_list<std::string_view> allowed);

    /// A required text of 1..500 characters.
    std::string text(const Json& object, std::string_view key);
    std::optional<std::string> optional_text(const Json& object, std::string_view key);
    std::optional<std::uint64_t> whole(const Json& object, std::string_view key, std::uint64_t min,
                                       std::uint64_t max);
    std::optional<double> number(const Json& object, std::string_view key, double min, double max);
    /// A number or [low, high], each in 1e-3..1e7.
    std::optional<Figure> figure(const Json& object, std::string_view key);
    bool flag(const Json& object, std::string_view key);
    /// A required id of 4 lower-case hexadecimal digits.
    std::uint16_t hex16(const Json& object, std::string_view key);
    std::optional<std::uint16_t> hex16_text(std::string_view text);

  private:
    std::string file_, row_, error_;
};

}  // namespace gpucheck

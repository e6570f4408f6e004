// Writes JSON straight into one string: a report of a big machine needs no second copy of itself as a tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checks/model/fact.h"

namespace gpucheck::report {

/// Calls must nest as JSON does; inside an object each value follows a key(). Two blanks a level.
class JsonText {
  public:
    JsonText& begin_object() { return open('{'); }
    JsonText& begin_array() { return open('['); }
    JsonText& end_object() { return close('}'); }
    JsonText& end_array() { return close(']'); }
    JsonText& key(std::string_view name);

    JsonText& text(std::string_view value);
    JsonText& text_or_null(std::string_view value) { return value.empty() ? null() : text(value); }
    JsonText& number(std::uint64_t value);
    JsonText& integer(std::int64_t value);
    /// Rounded to `decimals`; NaN and infinity, which JSON does not have, are null.
    JsonText& decimal(double value, int decimals = 3);
    JsonText& flag(bool value);
    JsonText& null();
    /// A value that is JSON already.
    JsonText& ready(std::string_view json);

    /// The document with a final newline.
    std::string take();

  private:
    JsonText& open(char bracket);
    JsonText& close(char bracket);
    void separate();
    void newline();

    std::string out_;
    std::vector<bool> filled_;  // of each open bracket: something is in it
    bool after_key_ = false;
};

/// An object of facts: what is known as a value, the rest as null, with the reasons in its last member
/// "missing":
/// {"hostname": {"why": "EACCES", "source": "/proc/sys/kernel/hostname"}}.
class FactObject {
  public:
    explicit FactObject(JsonText& json) : json_(json) { json_.begin_object(); }

    /// `write(json, value)` writes the value of a known fact.
    template <class T, class Write>
    void fact(std::string_view name, const Fact<T>& fact, Write write) {
        json_.key(name);
        if (fact.known()) {
            write(json_, fact.value());
        } else {
            json_.null();
            missing_.emplace_back(std::string(name), fact.missing());
        }
    }
    void text(std::string_view name, const Fact<std::string>& value);
    void number(std::string_view name, const Fact<std::uint64_t>& value);
    void number(std::string_view name, const Fact<unsigned>& value);
    void flag(std::string_view name, const Fact<bool>& value);
    /// Writes "missing" and closes the object.
    void end();

  private:
    JsonText& json_;
    std::vector<std::pair<std::string, Missing>> missing_;
};

}  // namespace gpucheck::report

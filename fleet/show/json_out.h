// JSON that leaves in pieces: 100,000 condensed reports in one string would need the memory of the fleet
// again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "fleet/show/show.h"

namespace gpucheck::fleet {

/// Calls must nest as JSON does; inside an object each value follows a key(). Rows of a table() stand on a
/// line each, everything inside of a row on the same.
class JsonOut {
  public:
    explicit JsonOut(const Sink& sink) : sink_(sink) {}
    JsonOut& key(std::string_view name);
    JsonOut& text(std::string_view value);
    JsonOut& text_or_null(std::string_view value) { return value.empty() ? null() : text(value); }
    /// The shortest digits that read back as the same number; what is none is null.
    JsonOut& number(double value);
    JsonOut& count(std::size_t value);
    JsonOut& flag(bool value) { return raw(value ? "true" : "false"); }
    JsonOut& null() { return raw("null"); }
    /// A value that is JSON already.
    JsonOut& raw(std::string_view json);
    JsonOut& begin(char bracket);  ///< { or [
    JsonOut& end(char bracket);    ///< } or ]

    /// The member `name`, a list; `write(row)` writes the value of each.
    template <class Rows, class Write>
    void table(std::string_view name, const Rows& rows, Write write) {
        key(name).begin('[');
        bool first = true;
        for (const auto& row : rows) {
            separate();
            out_ += "\n  ";
            pending_ = false;
            first = false;
            write(row);
            flush(kBlock);
        }
        if (!first) out_ += '\n';
        end(']');
    }
    template <class Rows, class Write>
    void list(std::string_view name, const Rows& rows, Write write) {
        key(name).begin('[');
        for (const auto& row : rows) write(row);
        end(']');
    }
    /// Members of the outermost object begin a line each.
    void line() {
        separate();
        out_ += "\n ";
        pending_ = false;
    }
    /// Ends the document with a newline.
    void finish();

  private:
    static constexpr std::size_t kBlock = std::size_t{256} << 10U;
    void separate() {
        if (pending_) out_ += ',';
    }
    void flush(std::size_t more_than);

    const Sink& sink_;
    std::string out_;
    bool pending_ = false;  // the next value or key follows another
    bool alive_ = true;
};

}  // namespace gpucheck::fleet

// Skips over JSON values by their brackets and quotes; see elements.h.
#include "checks/json/elements.h"

#include <algorithm>
#include <cstddef>

namespace gpucheck {
namespace {

class Cursor {
  public:
    explicit Cursor(std::string_view text) : text_(text) {}

    bool at(char wanted) {
        skip_space();
        return at_ < text_.size() && text_[at_] == wanted;
    }
    bool take(char wanted) {
        const bool there = at(wanted);
        if (there) ++at_;
        return there;
    }
    /// The next value as it is written. Empty at the end, or before something that cannot begin one.
    std::string_view value() {
        skip_space();
        const std::size_t begin = at_;
        std::size_t depth = 0;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (depth == 0 && (c == ',' || c == ':' || c == ']' || c == '}')) break;
            if (c == '"') {
                skip_string();
            } else {
                if (c == '[' || c == '{') ++depth;
                if (c == ']' || c == '}') --depth;
                ++at_;
            }
            if (depth == 0 && (c == '"' || c == ']' || c == '}')) break;
        }
        return text_.substr(begin, at_ - begin);
    }

  private:
    void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
    /// An odd number of backslashes stands before `at`.
    bool escaped(std::size_t begin, std::size_t at) const {
        std::size_t slashes = 0;
        while (at - slashes > begin && text_[at - slashes - 1] == '\\') ++slashes;
        return slashes % 2 == 1;
    }
    void skip_string() {
        const std::size_t begin = at_ + 1;
        do {
            at_ = text_.find('"', at_ + 1);  // most of a table is text: this is what makes it fast
        } while (at_ != std::string_view::npos && escaped(begin, at_));
        at_ = at_ == std::string_view::npos ? text_.size() : at_ + 1;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

std::vector<std::string_view> elements(Cursor& cursor) {
    std::vector<std::string_view> found;
    if (!cursor.take('[') || cursor.at(']')) return found;
    do {
        const std::string_view element = cursor.value();
        if (element.empty()) break;
        found.push_back(element);
    } while (cursor.take(','));
    return found;
}

}  // namespace

std::vector<std::string_view> elements_of(std::string_view document, std::string_view name) {
    Cursor cursor(document);
    if (!cursor.take('{')) return {};
    do {
        std::string_view key = cursor.value();
        if (key.size() < 2 || !cursor.take(':')) break;
        key = key.substr(1, key.size() - 2);
        if (key == name) return elements(cursor);
        if (cursor.value().empty()) break;
    } while (cursor.take(','));
    return {};
}

}  // namespace gpucheck

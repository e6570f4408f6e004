// Lines of a child; see lines.h.
#include "agent/child/lines.h"

#include <algorithm>
#include <utility>

#include "checks/json/utf8.h"

namespace gpucheck::child {
namespace {

// JSON escapes them all; a tab may stand between its tokens.
bool is_control(char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}
bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(), is_control);
}

}  // namespace

Lines::Lines(std::string mark, std::size_t max_bytes, std::size_t max_line)
    : mark_(std::move(mark)), max_bytes_(max_bytes), max_line_(max_line) {}

Lines::State Lines::line(std::string_view text) {
    if (text == mark_) return State::ended;
    if (text.starts_with(mark_) && text.substr(mark_.size()) == "!") return State::starved;
    if (text.size() > max_line_) return State::flooded;
    if (has_control(text) || !is_utf8(text)) return State::garbage;
    lines_.emplace_back(text);
    return State::open;
}

Lines::State Lines::take(std::string_view bytes) {
    while (state_ == State::open && !bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::string_view part = bytes.substr(0, end);
        bytes_ += part.size() + (end != std::string_view::npos ? 1 : 0);
        rest_.append(part.substr(0, max_line_ + mark_.size() + 2));  // enough to see that it is too long
        const bool maybe_mark = rest_.starts_with(mark_.substr(0, rest_.size()));
        if (end != std::string_view::npos) {
            state_ = line(rest_);
            rest_.clear();
            bytes.remove_prefix(end + 1);
        } else {
            if (!maybe_mark && has_control(rest_)) {
                state_ = State::garbage;
            } else if (rest_.size() > max_line_ + (maybe_mark ? mark_.size() + 1 : 0)) {
                state_ = State::flooded;
            }
            bytes = {};
        }
        if (bytes_ > max_bytes_ && (state_ == State::open)) state_ = State::flooded;
    }
    return state_;
}

}  // namespace gpucheck::child

// Documents out of a stream; see splitter.h. Only brackets and quotes are looked at: whether a document is
// JSON is its reader's business.
#include "fleet/read/splitter.h"

#include <algorithm>
#include <array>

namespace gpucheck::fleet {
namespace {

constexpr std::size_t kMostBroken = 100;   // then nothing of the file is worth reading
constexpr std::size_t kMostRestarts = 16;  // each looks at up to a whole document again
constexpr std::size_t kTextBytes = 64;     // of a key that means something to us

constexpr std::array<bool, 256> table(std::string_view stops) {
    std::array<bool, 256> found{};
    for (const char c : stops) found[static_cast<unsigned char>(c)] = true;
    return found;
}
constexpr auto kStopsOutsideText = table("\"{}[]\n");
constexpr auto kStopsInText = table("\"\\\n");

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

bool is_summary(std::string_view text) {
    const auto skip = [&] {
        while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    };
    skip();
    if (!text.starts_with('{')) return false;
    text.remove_prefix(1);
    skip();
    return text.starts_with("\"" + std::string(kSummaryKey) + "\"");
}

// Bytes that change nothing but what is held.
std::size_t Splitter::run_length(std::string_view bytes) const {
    if (mode_ == Mode::garbage || (mode_ == Mode::resync && !line_start_))
        return std::min(bytes.find('\n'), bytes.size());
    if (mode_ != Mode::inside || escaped_) return 0;
    // In a list of a summary each byte between its items counts.
    if (item_list() && !holding_ && depth_ == 2) return 0;
    const auto& stops = in_text_ ? kStopsInText : kStopsOutsideText;
    std::size_t n = 0;
    while (n < bytes.size() && !stops[static_cast<unsigned char>(bytes[n])]) ++n;
    return n;
}

void Splitter::keep(std::string_view bytes) {
    if (holding_) held_ += bytes;
    if (in_text_ && reads_text() && text_.size() < kTextBytes) text_ += bytes.substr(0, kTextBytes);
}

void Splitter::feed(std::string_view bytes) {
    while (!bytes.empty() && mode_ != Mode::stopped) {
        if (const std::size_t run = run_length(bytes); run > 0) {
            if (mode_ == Mode::inside) keep(bytes.substr(0, run));
            line_start_ = false;
            bytes.remove_prefix(run);
        } else {
            const char c = bytes.front();
            step(c);
            line_start_ = c == '\n';
            if (c == '\n') ++line_;
            bytes.remove_prefix(1);
        }
        if (held_.size() > max_bytes_)
            cut_off("is cut off, or larger than " + std::to_string(max_bytes_ >> 20U) + " MiB", Mode::resync);
    }
}

void Splitter::step(char c) {
    switch (mode_) {
        case Mode::between:
            if (c == '{') return begin_document();
            if (is_blank(c)) return;
            saw_any_ = true;
            held_line_ = line_;
            mode_ = Mode::garbage;
            return;
        case Mode::garbage:
            if (c == '\n') broken("is not a JSON object", line_, Mode::between);
            return;
        case Mode::resync:
            if (line_start_ && c == '{') begin_document();
            return;
        case Mode::inside:
            return step_inside(c);
        case Mode::stopped:
            return;
    }
}

void Splitter::step_inside(char c) {
    if (c == '\n' && in_text_) return broken("is cut off inside a text", held_line_, Mode::resync);
    if (in_text_) {
        keep({&c, 1});
        if (escaped_) {
            escaped_ = false;
        } else if (c == '\\') {
            escaped_ = true;
        } else if (c == '"') {
            end_text();
        }
        return;
    }
    if (item_list() && !holding_ && depth_ == 2 && c != '{' && c != ']' && c != ',' && !is_blank(c))
        return broken("is a summary with an item that is no object", line_, Mode::resync);
    if (c == '{' || c == '[') return open_bracket(c);
    if (holding_) held_ += c;
    if (c == '"') {
        in_text_ = true;
        if (reads_text()) text_.clear();
    } else if (c == '}' || c == ']') {
        close_bracket();
    }
}

// The closing quote is in text_ by now.
void Splitter::end_text() {
    in_text_ = false;
    if (!reads_text()) return;
    text_.pop_back();
    if (in_node()) {
        if (before_ == "decision") tally_.decision(text_);
        before_ = text_;
        return;
    }
    ++texts_;
    if (texts_ == 1 && text_ == kSummaryKey) {
        summary_ = true;
        holding_ = false;
        held_.clear();
    } else if (summary_ && texts_ == 2 && !text_.starts_with("1.")) {
        broken("is a summary of version " + text_ + ", which this version of gpucheck does not know",
               held_line_, Mode::resync);
    }
}

void Splitter::open_bracket(char c) {
    ++depth_;
    if (item_list() && !holding_ && c == '{') return begin_item();
    if (holding_) {
        held_ += c;
        return;
    }
    if (in_node() && c == '{') {
        ++tally_.nodes;
        before_.clear();
    }
    if (summary_ && depth_ == 2 && c == '{' && text_ == "counts") return begin_counts();
    if (!summary_ || depth_ != 2 || c != '[') return;
    list_ = text_ == "reports"       ? List::reports
            : text_ == "conflicting" ? List::conflicting
            : text_ == "rejected"    ? List::rejected
            : text_ == "nodes"       ? List::nodes
                                     : List::none;
    if (list_ != List::reports) return;
    if (reports_seen_) return broken("is a summary that has its reports twice", line_, Mode::resync);
    reports_seen_ = true;
}

void Splitter::close_bracket() {
    --depth_;
    if (holding_ && depth_ == held_depth_)
        return emit(list_ == List::rejected ? Piece::Kind::rejected : Piece::Kind::document);
    if (!summary_) return;
    if (depth_ == 1) list_ = List::none;
    if (depth_ > 0) return;
    if (!reports_seen_) return broken("is a summary without its reports", held_line_, Mode::between);
    if (const std::string why = tally_.wrong(); !why.empty()) return broken(why, held_line_, Mode::between);
    mode_ = Mode::between;
}

void Splitter::begin_document() {
    mode_ = Mode::inside;
    saw_any_ = true;
    depth_ = 1;
    held_depth_ = texts_ = 0;
    held_ = '{';
    held_line_ = line_;
    holding_ = true;
    in_text_ = escaped_ = summary_ = reports_seen_ = counting_ = false;
    reports_ = 0;
    tally_ = {};
    before_.clear();
    list_ = List::none;
}

void Splitter::begin_item() {
    held_ = '{';
    holding_ = true;
    held_depth_ = depth_ - 1;
    held_line_ = line_;
}

void Splitter::begin_counts() {
    held_ = '{';
    holding_ = counting_ = true;
    held_depth_ = depth_ - 1;
}

void Splitter::count_item() {
    ++reports_;
    if (list_ == List::reports) ++tally_.reports;
    if (list_ == List::conflicting) ++tally_.conflicting;
    if (list_ != List::rejected) return;
    ++tally_.rejected;
    // In a text its quotes would be escaped.
    if (held_.find("\"shares_an_id\"") != std::string::npos) ++tally_.sharing;
}

void Splitter::emit(Piece::Kind kind) {
    holding_ = false;
    if (counting_) {
        counting_ = false;
        ++tally_.times;
        tally_.counts = std::move(held_);
        held_.clear();
        return;
    }
    if (!summary_) mode_ = Mode::between;
    count_item();
    take_({kind, held_, held_line_});
    held_.clear();
}

void Splitter::broken(std::string_view why, std::size_t line, Mode next) {
    holding_ = in_text_ = escaped_ = counting_ = false;
    held_.clear();
    mode_ = next;
    if (++broken_ < kMostBroken) return take_({Piece::Kind::broken, why, line});
    mode_ = Mode::stopped;
    take_(
        {Piece::Kind::broken,
         "and what follows was not read: " + std::to_string(kMostBroken) + " documents before it are broken",
         line});
}

void Splitter::finish() {
    if (mode_ == Mode::garbage) return broken("is not a JSON object", line_, Mode::between);
    if (mode_ != Mode::inside) return;
    if (summary_) {
        return broken("is a summary that is cut off after " + std::to_string(reports_) + " items", held_line_,
                      Mode::between);
    }
    cut_off("is cut off", Mode::between);
    finish();
}

// What follows a document that was cut off is often whole: `cat *.json` after a full disk.
void Splitter::cut_off(std::string_view why, Mode next) {
    const std::string held = std::move(held_);
    const std::size_t line = held_line_, now = line_;
    broken(why, line, next);
    const std::size_t found = held.find("\n{");
    if (found == std::string::npos || mode_ == Mode::stopped) return;
    if (++restarts_ > kMostRestarts)
        return broken("and what follows was not read: too many documents are cut off", line, Mode::stopped);
    const auto lines = std::count(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(found), '\n');
    line_ = line + static_cast<std::size_t>(lines);
    mode_ = Mode::between;
    feed(std::string_view(held).substr(found));
    line_ = now;
}

}  // namespace gpucheck::fleet

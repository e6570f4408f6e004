// Cuts bytes into lines and parses those that can matter; see scan.h.
#include "agent/host/kernel_log/scan.h"

#include <algorithm>
#include <cstring>

namespace gpucheck::host {
namespace {

constexpr std::size_t kNone = Prefilter::kNone;
// Only the time of the first and last line is wanted; it stands at the front (JSON: anywhere, so more is
// kept).
constexpr std::size_t kKeptOfLast = 2048;
// How many lines without a time are tried for it: headers, continuation lines.
constexpr std::size_t kUntimed = 16;
// printk stamps of several processors may run back a little within one boot.
constexpr std::int64_t kBackwardsUs = 2000000;

std::size_t newline_at(std::string_view text, std::size_t from) {
    const void* found = std::memchr(text.data() + from, '\n', text.size() - from);
    return found == nullptr ? kNone : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace

LogScanner::LogScanner(ScanOptions options) : options_(options) {}

void LogScanner::feed(std::string_view bytes) {
    while (!bytes.empty()) {
        if (skipping_) {
            const std::size_t end = newline_at(bytes, 0);
            if (end == kNone) return;
            skipping_ = false;
            bytes.remove_prefix(end + 1);
            continue;
        }
        if (!carry_.empty()) {
            const std::size_t end = newline_at(bytes, 0);
            const std::size_t room = kLongestLine - carry_.size();
            if (end != kNone && end <= room) {
                carry_.append(bytes.substr(0, end + 1));
                whole_lines(carry_);
                carry_.clear();
                bytes.remove_prefix(end + 1);
                continue;
            }
            if (end == kNone && bytes.size() <= room) {
                carry_.append(bytes);
                return;
            }
            carry_.append(bytes.substr(0, room));
            carry_.push_back('\n');
            whole_lines(carry_);
            carry_.clear();
            skipping_ = true;
            bytes.remove_prefix(room);
            continue;
        }
        const std::size_t last = bytes.rfind('\n');
        if (last != std::string_view::npos) {
            whole_lines(bytes.substr(0, last + 1));
            bytes.remove_prefix(last + 1);
        }
        if (bytes.size() > kLongestLine) {
            carry_.assign(bytes.substr(0, kLongestLine));
            carry_.push_back('\n');
            whole_lines(carry_);
            carry_.clear();
            skipping_ = true;
            return;
        }
        carry_.assign(bytes);
        return;
    }
}

void LogScanner::count_to(std::string_view region, std::size_t end) {
    line_ += count_newlines(region.substr(counted_, end - counted_));
    counted_ = end;
}

// `region` ends with a newline.
void LogScanner::whole_lines(std::string_view region) {
    counted_ = 0;
    account(region);
    if (options_.since_boot || options_.every_line) {
        for (std::size_t begin = 0; begin < region.size();) {
            const std::size_t end = newline_at(region, begin);
            count_to(region, begin);
            handle(region.substr(begin, std::min(end - begin, kLongestLine)), 0);
            begin = end + 1;
        }
    } else {
        candidates(region);
    }
    count_to(region, region.size());
}

void LogScanner::candidates(std::string_view region) {
    const Prefilter& filter = anchor_filter();
    std::size_t begin = 0;  // always the start of a line
    while (begin < region.size()) {
        const std::size_t hit = filter.find(region, begin);
        if (hit == kNone) return;
        const void* before = hit == begin ? nullptr : ::memrchr(region.data() + begin, '\n', hit - begin);
        const std::size_t start =
            before == nullptr
                ? begin
                : static_cast<std::size_t>(static_cast<const char*>(before) - region.data()) + 1;
        const std::size_t end = newline_at(region, hit);
        count_to(region, start);
        if (hit - start < kLongestLine)
            handle(region.substr(start, std::min(end - start, kLongestLine)), hit - start);
        begin = end + 1;
    }
}

// Whether there is a line of text at all, and the times of the first and the last that print one.
void LogScanner::account(std::string_view region) {
    for (std::size_t begin = 0;
         begin < region.size() && (!text_seen_ || (!first_.known() && untimed_ < kUntimed));) {
        const std::size_t end = newline_at(region, begin);
        const std::string_view raw = region.substr(begin, std::min(end - begin, kKeptOfLast));
        if (looks_like_text(raw)) {
            text_seen_ = true;
            ++untimed_;
            first_ = parse_line(raw, scratch_).stamp;
        }
        begin = end + 1;
    }
    std::size_t tries = kUntimed;
    for (std::size_t end = region.size(); end > 0 && tries > 0; --tries) {
        const void* before = end < 2 ? nullptr : ::memrchr(region.data(), '\n', end - 1);
        const std::size_t begin =
            before == nullptr
                ? 0
                : static_cast<std::size_t>(static_cast<const char*>(before) - region.data()) + 1;
        const Stamp stamp =
            parse_line(region.substr(begin, std::min(end - 1 - begin, kKeptOfLast)), scratch_).stamp;
        if (stamp.known()) {
            last_ = stamp;
            return;
        }
        end = begin;
    }
}

bool LogScanner::starts_boot(const LogLine& line) {
    if (line.part_header) {  // pstore: the parts are not in order of time
        newest_mono_us_ = Stamp::kNone;
        return false;
    }
    if (line.boot_marker) return true;
    if (line.boot_id != 0 && line.boot_id != boot_id_) {
        const bool had = boot_id_ != 0;
        boot_id_ = line.boot_id;
        newest_mono_us_ = line.stamp.mono_us;
        return had;
    }
    if (line.program.empty() && line.message.starts_with("Linux version ")) {
        newest_mono_us_ = line.stamp.mono_us;
        return line_ > 0;
    }
    if (!options_.since_boot || line.stamp.mono_us == Stamp::kNone) return false;
    const bool back = newest_mono_us_ != Stamp::kNone && line.stamp.mono_us + kBackwardsUs < newest_mono_us_;
    newest_mono_us_ = back ? line.stamp.mono_us : std::max(newest_mono_us_, line.stamp.mono_us);
    return back;
}

void LogScanner::new_boot() {
    ++boot_;
    if (!options_.since_boot) return;
    folder_.clear();
    recogniser_.forget();
    lines_before_boot_ = line_;
    first_ = {};
}

void LogScanner::handle(std::string_view raw, std::size_t anchor) {
    const LogLine line = parse_line(raw, scratch_);
    if (starts_boot(line)) new_boot();
    if (line.continuation || line.boot_marker || line.part_header) return;
    if (options_.since_boot && !first_.known()) first_ = line.stamp;
    std::string_view text = line.message;
    const Place place{line.stamp, line_ + 1, boot_};
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view message = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        while (!message.empty() && message.front() == ' ') message.remove_prefix(1);
        if (message.size() > kLongestMessage) {
            // Somebody's wrapper may stand in front: look around the anchor that made the line a candidate.
            const std::size_t lead = raw.size() - std::min(raw.size(), message.size());
            const std::size_t at = anchor > lead + 512 ? anchor - lead - 512 : 0;
            message = message.substr(std::min(at, message.size()), kLongestMessage);
        }
        Recognised seen = recogniser_.see(message, line, place.line);
        if (seen.sighting) folder_.add(*seen.sighting, place, message);
        if (seen.recovery) folder_.recover(*seen.recovery, place);
    }
}

LogSummary LogScanner::finish(std::string incomplete) {
    if (!carry_.empty()) {
        carry_.push_back('\n');
        whole_lines(carry_);
        carry_.clear();
    }
    LogSummary summary;
    summary.lines = text_seen_ ? line_ - lines_before_boot_ : 0;
    summary.first = first_.text();
    summary.last = last_.text();
    summary.lost = lost_;
    summary.incomplete = std::move(incomplete);
    summary.events = folder_.finish(recogniser_, boot_, summary.overflow);
    return summary;
}

}  // namespace gpucheck::host

// Streams, and the threads that parse; see worker.h.
#include "fleet/read/worker.h"

#include <utility>

#include "agent/report/escape.h"

namespace gpucheck::fleet {
namespace {

// A stream that grows more than a thousandfold beyond 16 MiB is a bomb: reports shrink to a tenth, equal
// ones to a hundredth.
bool is_bomb(std::size_t bytes_in, std::size_t bytes_out) {
    constexpr std::size_t kHarmless = std::size_t{16} << 20U, kRatio = 1000;
    return bytes_out > kHarmless && bytes_out / kRatio > bytes_in;
}

}  // namespace

bool Stream::feed(std::string_view bytes) {
    if (ended_) return false;
    in_ += bytes.size();
    constexpr std::size_t kHead = 6;
    if (!known_) {
        head_ += bytes;
        if (head_.size() < kHead) return true;
        known_ = true;
        const unpack::Packing packing = unpack::packing_of(head_);
        if (packing != unpack::Packing::none) {
            inflate_ = unpack::make_inflate(packing);
            if (inflate_ == nullptr) {
                broken("is compressed in a way that this build cannot read: decompress it first");
                return false;
            }
        } else if (head_.starts_with("\xef\xbb\xbf")) {
            head_.erase(0, 3);
        }
        const std::string head = std::exchange(head_, {});
        in_ -= head.size();
        return feed(head);
    }
    if (inflate_ == nullptr) return into_splitter(bytes);
    const auto error = inflate_->feed(bytes, [&](std::string_view out) { return into_splitter(out); });
    if (error && !ended_) broken("is " + *error);
    return !ended_;
}

bool Stream::into_splitter(std::string_view bytes) {
    out_ += bytes.size();
    if (inflate_ != nullptr && is_bomb(in_, out_)) {
        broken("grows more than a thousandfold when it is decompressed, and was not read to its end");
        return false;
    }
    splitter_.feed(bytes);
    if (splitter_.gave_up()) ended_ = true;
    return !ended_;
}

void Stream::finish() {
    if (ended_) return;
    if (!known_) {
        if (head_.find_first_not_of(" \t\r\n") == std::string::npos) return empty();
        known_ = true;
        splitter_.feed(head_);
    } else if (inflate_ != nullptr) {
        const auto error = inflate_->finish([&](std::string_view out) { return into_splitter(out); });
        if (error && !ended_) return broken("is " + *error);
    }
    if (!ended_) splitter_.finish();
    if (!ended_ && !splitter_.saw_any()) empty();
}

void Stream::empty() {
    ended_ = true;
    take_({Piece::Kind::broken, "is empty", 0});
}

void Stream::broken(std::string_view why) {
    ended_ = true;
    take_({Piece::Kind::broken, why, splitter_.line()});
}

std::string place_of(const Source& source, std::size_t line) {
    return line == 0 ? source.where : source.where + ':' + std::to_string(line);
}

void Worker::note(const std::shared_ptr<Source>& source, std::size_t line, std::string why) {
    why = report::plain(why, report::kPageBytes);  // parts of the document are in it
    const std::lock_guard hold(source->lock);
    if (source->broken++ == 0 || line < source->first_line ||
        (line == source->first_line && why < source->first_why)) {
        source->first_line = line;
        source->first_why = why;
    }
    if (source->broken <= kMostFaults) faults.push_back({source, line, std::move(why)});
}

void Worker::piece(const std::shared_ptr<Source>& source, const Piece& piece, std::size_t line) {
    if (piece.kind == Piece::Kind::broken) return note(source, line, std::string(piece.text));
    if (piece.kind == Piece::Kind::rejected) {
        if (auto why = reader_.read_rejected(part, piece.text)) note(source, line, std::move(*why));
        return;
    }
    if (reports_.load(std::memory_order_relaxed) >= options_.max_reports) {
        too_many = true;
        return;
    }
    if (auto why = reader_.read(part, piece.text, place_of(*source, line))) {
        note(source, line, std::move(*why));
    } else {
        reports_.fetch_add(1, std::memory_order_relaxed);
    }
}

// Most files are one report: no need to look for where it ends.
void Worker::whole_file(const Work& work) {
    const bool one = unpack::packing_of(work.text) == unpack::Packing::none && !is_summary(work.text);
    if (one && reports_.load(std::memory_order_relaxed) < options_.max_reports) {
        const auto why = reader_.read(part, work.text, work.source->where);
        if (!why) {
            reports_.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        if (reader_.was_json()) return note(work.source, 0, *why);
    }
    Stream stream(options_, [&](const Piece& each) { piece(work.source, each, each.line); });
    stream.feed(work.text);
    stream.finish();
}

void Worker::run(Queue& queue) {
    while (auto work = queue.pop()) {
        if (work->line == 0) {
            whole_file(*work);
        } else {
            piece(work->source, {work->kind, work->text, work->line}, work->line);
        }
    }
}

}  // namespace gpucheck::fleet

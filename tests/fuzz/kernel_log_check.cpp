// See kernel_log_check.h.
#include "tests/fuzz/kernel_log_check.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "agent/host/kernel_log/line.h"
#include "agent/host/kernel_log/rules.h"
#include "agent/host/kernel_log/scan.h"
#include "agent/unpack/inflate.h"

namespace gpucheck::host {
namespace {

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

LogSummary scan(std::string_view log, std::size_t block, ScanOptions options) {
    LogScanner scanner(options);
    for (std::size_t i = 0; i < log.size(); i += block) scanner.feed(log.substr(i, block));
    return scanner.finish();
}

bool plain_code(const std::string& code) {
    for (const char c : code) {
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_')) return false;
    }
    return !code.empty();
}

void check_summary(const LogSummary& summary) {
    require(summary.events.size() <= Folder::kMostRecords + 1, "too many events");
    require(summary.lines > 0 || summary.verdict() >= Verdict::unknown || !summary.events.empty(),
            "a log without a line passes");
    for (const LogEvent& event : summary.events) {
        require(plain_code(event.code), "code");
        require(event.verdict != Verdict::not_applicable, "an event without a verdict");
        require(event.count > 0, "count");
        require(event.evidence.size() <= Folder::kMostEvidence, "evidence");
        require(event.bdf.empty() || Bdf::parse(event.bdf).has_value(), "address");
        require(looks_like_text(printable(event.evidence)) ||
                    event.evidence.find_first_not_of(" \t") == std::string::npos,
                "printable");
    }
}

}  // namespace

void check_any_log(const std::uint8_t* data, std::size_t size) {
    const std::string_view log(reinterpret_cast<const char*>(data), size);
    const LogSummary whole = scan(log, size == 0 ? 1 : size, {});
    check_summary(whole);
    const std::size_t block = size == 0 ? 1 : 1 + data[0] % 61;
    require(scan(log, block, {}) == whole, "the cut matters");
    check_summary(scan(log, block, {.since_boot = true, .every_line = false}));
    for (std::size_t from = 0, n = 0; n < 64; ++n) {
        const std::size_t fast = anchor_filter().find(log, from);
        require(fast == anchor_filter().find_scalar(log, from), "vector and scalar search disagree");
        if (fast == Prefilter::kNone) break;
        from = fast + 1;
    }
    const auto packed = unpack::make_inflate(unpack::packing_of(log));
    if (packed == nullptr) return;
    LogScanner scanner;
    const auto sink = [&](std::string_view text) {
        scanner.feed(text);
        return true;
    };
    const bool fine = !packed->feed(log, sink) && !packed->finish(sink);
    check_summary(scanner.finish(fine ? "" : "damaged"));
}

}  // namespace gpucheck::host

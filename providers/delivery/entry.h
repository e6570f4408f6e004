// One report that waits for one receiver, as a file: whole or recognisably damaged, so that half a report
// never arrives and a damaged one is never taken for delivered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "checks/model/verdict.h"
#include "providers/delivery/sink.h"

namespace gpucheck::delivery {

/// The state of a delivery is its file's name: changing it is one rename, which is whole or not at all, and
/// ten thousand of them are listed without opening one.
struct EntryName {
    std::string report_id;  ///< UUIDv7: names sort by time
    Verdict verdict = Verdict::unknown;
    std::string sink;             ///< key_of(url)
    unsigned attempts = 0;        ///< so far
    std::int64_t next_try_s = 0;  ///< seconds since 1970
    std::string last = "-";       ///< what the last one gave: "503", "timeout"

    /// "UUID.fail.0123456789abcdef.3.1764540000.503.report"
    std::string file() const;
    static std::optional<EntryName> parse(std::string_view file);
    bool operator==(const EntryName&) const = default;
};

/// 8-4-4-4-12 hexadecimal digits in lower case.
bool is_report_id(std::string_view text);

struct Entry {
    std::string report_id;
    std::string created;       ///< RFC 3339
    std::string source;        ///< CloudEvents' source: which machine
    std::string content_type;  ///< of the body before compression
    bool gzip = false;         ///< the body is compressed
    Sink sink;
    std::string body;
    std::string provider = {};  ///< whose instance this is, for a proof of identity
};

/// A line of JSON with length and checksum of the body, then the body.
std::string encode(const Entry& entry);
/// The error says what is damaged.
std::variant<Entry, std::string> decode(std::string_view file);

}  // namespace gpucheck::delivery

// Who may report and who may read: digests of tokens, so that a copy of the file opens nothing, and how much
// each token may send, so that one runaway machine does not silence a fleet.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gpucheck::fleet::collect {

struct Token {
    std::string name;
    std::string sha256;  ///< raw
    bool may_report = false, may_read = false;
    std::string machine;  ///< the only one it may report for; empty: any
    double reports_per_minute = 6000, burst = 2000;
    std::size_t max_bytes = SIZE_MAX;
};
struct EnrolmentToken {
    std::string sha256;          ///< raw
    std::string machine;         ///< empty: whichever comes first
    std::int64_t expires_s = 0;  ///< 0: never
};

struct Credentials {
    std::vector<Token> tokens;
    std::vector<EnrolmentToken> enrolments;

    /// Looks at every token whatever it finds, so that the time says nothing. nullptr: none is this one.
    const Token* find(std::string_view presented) const;
    const EnrolmentToken* find_enrolment(std::string_view presented) const;
    bool anyone_may_read_by_token() const;
    bool anyone_may_report_by_token() const;
};

/// A regular file of mode 0600 or stricter. Unknown and repeated members, weak digests (of the empty text)
/// and names that are there twice are errors: a typing error must not open a door.
std::variant<Credentials, std::string> read_credentials(const std::string& path);

/// Token buckets by name. Thread-safe.
class Rates {
  public:
    using Clock = std::chrono::steady_clock;
    /// Takes one. A number: it was empty; seconds until one is there again, at least 1.
    std::optional<int> take(const Token& token, Clock::time_point now);

  private:
    struct Bucket {
        double left = 0;
        Clock::time_point at;
    };
    std::mutex lock_;
    std::map<std::string, Bucket, std::less<>> buckets_;
};

}  // namespace gpucheck::fleet::collect

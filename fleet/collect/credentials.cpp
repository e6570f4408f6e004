// Tokens; see credentials.h.
#include "fleet/collect/credentials.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "agent/report/report_id.h"
#include "checks/specs/data_file.h"
#include "providers/crypto/hash.h"
#include "providers/disk/files.h"

namespace gpucheck::fleet::collect {
namespace {

constexpr std::size_t kMostFileBytes = std::size_t{16} << 20U;

std::string digest_of(std::string_view text) {
    const auto hash = crypto::Hash::open();
    const auto* opened = std::get_if<crypto::Hash>(&hash);
    return opened == nullptr ? std::string() : opened->sha256(text);
}

bool same(std::string_view a, std::string_view b) {
    unsigned different = a.size() == b.size() && !a.empty() ? 0U : 1U;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        different |=
            static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
    return different == 0;
}

template <class T>
const T* find_in(const std::vector<T>& all, std::string_view presented) {
    const std::string digest = digest_of(presented);
    const T* found = nullptr;
    for (const T& each : all) found = same(each.sha256, digest) ? &each : found;
    return found;
}

std::string unhex(std::string_view hex) {
    const auto digit = [](char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    std::string bytes;
    for (std::size_t i = 0; hex.size() == 64 && i < 64; i += 2) {
        if (digit(hex[i]) < 0 || digit(hex[i + 1]) < 0) return {};
        bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
    }
    return bytes;
}

// Reads one object's members; the first fault is kept.
class Reader {
  public:
    Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
        if (!object.is_object()) refuse("is no object");
    }
    std::string text(const char* name, bool required) {
        const Json* value = member(name);
        if (value == nullptr) {
            if (required) refuse(std::string("lacks \"") + name + "\"");
            return {};
        }
        const auto* held = value->get_ptr<const std::string*>();
        if (held == nullptr || held->empty()) refuse(std::string("\"") + name + "\" is no text");
        return held == nullptr ? std::string() : *held;
    }
    double number(const char* name, double otherwise, double least, double most) {
        const Json* value = member(name);
        if (value == nullptr) return otherwise;
        const double held = value->is_number() ? value->get<double>() : std::nan("");
        if (!(held >= least && held <= most)) refuse(std::string("\"") + name + "\" is out of bounds");
        return held;
    }
    std::string digest() {
        std::string bytes = unhex(text("sha256", true));
        if (bytes.empty() || bytes == digest_of(""))
            refuse("\"sha256\" is no SHA-256 of a token, in lower-case hexadecimal");
        return bytes;
    }
    const Json* member(const char* name) {
        known_.insert(name);
        if (!object_.is_object()) return nullptr;
        const auto found = object_.find(name);
        return found == object_.end() ? nullptr : &*found;
    }
    void refuse(const std::string& what) {
        if (why_.empty()) why_ = where_ + " " + what;
    }
    // Afterwards: what nobody asked for.
    std::string fault() {
        if (object_.is_object())
            for (const auto& [name, value] : object_.items())
                if (!known_.contains(name)) refuse("has an unknown member \"" + name.substr(0, 64) + "\"");
        return why_;
    }

  private:
    const Json& object_;
    std::string where_, why_;
    std::set<std::string> known_;
};

std::string read_token(const Json& json, std::size_t number, Token& token) {
    Reader reader(json, "tokens[" + std::to_string(number) + "]");
    token.name = reader.text("name", true);
    token.sha256 = reader.digest();
    token.machine = reader.text("machine", false);
    token.reports_per_minute = reader.number("reports_per_minute", token.reports_per_minute, 0.01, 1e9);
    token.burst = reader.number("burst", token.burst, 1, 1e9);
    if (reader.member("max_bytes") != nullptr)
        token.max_bytes = static_cast<std::size_t>(reader.number("max_bytes", 0, 1, 1e9));
    const Json* may = reader.member("may");
    if (may == nullptr || !may->is_array() || may->empty()) {
        reader.refuse("lacks \"may\": a list of \"report\" and \"read\"");
        return reader.fault();
    }
    for (const Json& each : *may) {
        if (each == "report")
            token.may_report = true;
        else if (each == "read")
            token.may_read = true;
        else
            reader.refuse("\"may\" is a list of \"report\" and \"read\"");
    }
    return reader.fault();
}

std::string read_enrolment(const Json& json, std::size_t number, EnrolmentToken& token) {
    Reader reader(json, "enrolment[" + std::to_string(number) + "]");
    token.sha256 = reader.digest();
    token.machine = reader.text("machine", false);
    if (const std::string expires = reader.text("expires", false); !expires.empty()) {
        const auto at = report::unix_seconds(expires);
        if (!at || *at <= 0) reader.refuse("\"expires\" is no time of RFC 3339");
        token.expires_s = at.value_or(1);
    }
    return reader.fault();
}

template <class T, class Read>
std::string read_list(const Json* list, const char* name, std::vector<T>& into, Read read) {
    if (list == nullptr) return {};
    if (!list->is_array()) return std::string("\"") + name + "\" is no list";
    for (const Json& each : *list) {
        T made;
        if (std::string why = read(each, into.size(), made); !why.empty()) return why;
        for (const T& other : into)
            if (other.sha256 == made.sha256) return std::string(name) + " has one sha256 twice";
        into.push_back(std::move(made));
    }
    return {};
}

}  // namespace

const Token* Credentials::find(std::string_view presented) const {
    return find_in(tokens, presented);
}
const EnrolmentToken* Credentials::find_enrolment(std::string_view presented) const {
    return find_in(enrolments, presented);
}
bool Credentials::anyone_may_read_by_token() const {
    return std::any_of(tokens.begin(), tokens.end(), [](const Token& t) { return t.may_read; });
}
bool Credentials::anyone_may_report_by_token() const {
    return std::any_of(tokens.begin(), tokens.end(), [](const Token& t) { return t.may_report; });
}

std::variant<Credentials, std::string> read_credentials(const std::string& path) {
    auto file = disk::read_file(path, kMostFileBytes);
    if (auto* why = std::get_if<disk::Error>(&file)) return std::move(why->what);
    const auto& content = *std::get_if<disk::Content>(&file);
    if (disk::readable_by_others(content.mode)) return path + ": others may read it (chmod 600)";
    if (digest_of("").empty()) return std::string("libcrypto is needed to check tokens");
    auto parsed = parse_data(content.text);
    if (auto* why = std::get_if<std::string>(&parsed))
        return path + ": " + why->substr(0, why->find("; last read"));
    Credentials credentials;
    Reader reader(*std::get_if<Json>(&parsed), "it");
    std::string why = read_list(reader.member("tokens"), "tokens", credentials.tokens, read_token);
    if (why.empty())
        why = read_list(reader.member("enrolment"), "enrolment", credentials.enrolments, read_enrolment);
    std::set<std::string> names;
    for (const Token& token : credentials.tokens)
        if (why.empty() && !names.insert(token.name).second) why = "two tokens are named " + token.name;
    if (why.empty()) why = reader.fault();
    if (!why.empty()) return path + ": " + why;
    return credentials;
}

std::optional<int> Rates::take(const Token& token, Clock::time_point now) {
    const std::lock_guard lock(lock_);
    const auto [at, fresh] = buckets_.try_emplace(token.name, Bucket{token.burst, now});
    Bucket& bucket = at->second;
    const double per_second = token.reports_per_minute / 60;
    const double passed_s = std::chrono::duration<double>(now - bucket.at).count();
    bucket.left = std::min(token.burst, bucket.left + std::max(0.0, passed_s) * per_second);
    bucket.at = now;
    if (bucket.left >= 1) {
        bucket.left -= 1;
        return std::nullopt;
    }
    constexpr double kMost = 3600;
    return static_cast<int>(std::ceil(std::min(kMost, std::max(1.0, (1 - bucket.left) / per_second))));
}

}  // namespace gpucheck::fleet::collect

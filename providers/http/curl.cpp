// HTTP over libcurl 7.81 and newer; see http.h. Every option that bounds a request is set here, for each
// request anew, and a libcurl that refuses one of them sends nothing.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <new>
#include <utility>

#include "providers/http/curl_library.h"
#include "providers/http/failure.h"
#include "providers/http/request_rules.h"
#include "providers/http/resolve.h"

namespace gpucheck::http {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// libcurl before 8.3 takes any amount of headers as long as each is short.
constexpr std::size_t kMaxHeaderBytes = 256U << 10U;
constexpr std::size_t kMaxDetail = 300;
// Somebody who keeps a connection alive by a trickle: fewer bytes a second than a person types, for this
// long.
constexpr long kSlowBytesPerSecond = 32;
constexpr long kSlowSeconds = 15;

// CURLOPT_QUICK_EXIT (322, since 7.87; 7.81's header lacks it): without it a request through a proxy whose
// time is up still waits for the thread that asks a dead name server. Where there is no proxy we resolve
// names ourselves.
constexpr auto kQuickExit = static_cast<CURLoption>(322);
constexpr unsigned kQuickExitSince = 0x075700;

// What arrives, as far as it is wanted.
struct Arrival {
    Response response;
    std::size_t max_body_bytes = 0, header_bytes = 0;
    bool too_large = false, out_of_memory = false;
};

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* where) {
    auto& arrival = *static_cast<Arrival*>(where);
    const std::size_t bytes = size * count;
    if (bytes > arrival.max_body_bytes - std::min(arrival.max_body_bytes, arrival.response.body.size())) {
        arrival.too_large = true;
        return 0;  // less than was given: libcurl ends the transfer
    }
    try {
        arrival.response.body.append(data, bytes);
    } catch (const std::bad_alloc&) {
        arrival.out_of_memory = true;
        return 0;
    }
    return bytes;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* where) {
    auto& arrival = *static_cast<Arrival*>(where);
    const std::size_t bytes = size * count;
    arrival.header_bytes += bytes;  // of all answers together: "100 Continue" without end is a flood too
    if (arrival.header_bytes > kMaxHeaderBytes) {
        arrival.too_large = true;
        return 0;
    }
    const std::string_view line(data, bytes);
    try {
        if (line.substr(0, 5) == "HTTP/") arrival.response.headers.clear();  // an interim answer came before
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos && line.substr(0, 5) != "HTTP/") {
            arrival.response.headers.push_back(
                {lowered(trimmed(line.substr(0, colon))), std::string(trimmed(line.substr(colon + 1)))});
        }
    } catch (const std::bad_alloc&) {
        arrival.out_of_memory = true;
        return 0;
    }
    return bytes;
}

class CurlClient final : public Client {
  public:
    CurlClient() = default;
    CurlClient(const CurlClient&) = delete;
    CurlClient& operator=(const CurlClient&) = delete;
    ~CurlClient() override {
        if (handle_ != nullptr) curl_->easy_cleanup(handle_);
    }

    Outcome perform(const Request& request) override {
        if (std::string why = refusal_of(request); !why.empty()) return Failed{Failure::local, why};
        const auto& library = curl_library();
        if (const auto* why = std::get_if<std::string>(&library)) return Failed{Failure::local, *why};
        curl_ = std::get_if<CurlLibrary>(&library);
        if (handle_ == nullptr) handle_ = curl_->easy_init();
        if (handle_ == nullptr) return Failed{Failure::local, "libcurl gives no handle"};
        curl_->easy_reset(handle_);  // keeps connections and names
        const Outcome outcome = ask_in_time(request);
        curl_->easy_reset(handle_);  // the options point to what ends with this call
        return outcome;
    }

  private:
    template <class Value>
    bool set(CURLoption option, Value value) {
        return curl_->easy_setopt(handle_, option, value) == CURLE_OK;
    }

    // By name servers that may be dead. What that takes is taken from the request's time.
    Outcome ask_in_time(Request request) {
        const auto begin = Clock::now();
        const Authority authority = authority_of(request.url);
        direct_ = request.proxy == Proxy::bypass || is_link_local(authority.host);
        if ((direct_ || !environment_has_proxy()) && !is_address(authority.host)) {
            auto found =
                addresses_of(authority.host, std::min(request.connect_timeout, request.total_timeout));
            if (auto* failed = std::get_if<Failed>(&found)) return std::move(*failed);
            for (const std::string& address : std::get<std::vector<std::string>>(found)) {
                pinned_host_ +=
                    pinned_host_.empty() ? "+" + authority.host + ":" + authority.port + ":" : ",";
                pinned_host_ += address.find(':') == std::string::npos ? address : "[" + address + "]";
            }
            const auto spent = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
            request.connect_timeout = std::max(request.connect_timeout - spent, milliseconds(1));
            request.total_timeout = std::max(request.total_timeout - spent, milliseconds(1));
        }
        Outcome outcome = ask(request);
        pinned_host_.clear();
        return outcome;
    }

    // Asked for once a minute: ten thousand reports go to one host.
    std::variant<std::vector<std::string>, Failed> addresses_of(const std::string& host, milliseconds limit) {
        constexpr auto kKeep = std::chrono::seconds(60);
        if (const auto kept = names_.find(host);
            kept != names_.end() && Clock::now() - kept->second.at < kKeep)
            return kept->second.addresses;
        auto found = resolve(host, limit);
        if (names_.size() >= 64) names_.clear();
        if (const auto* addresses = std::get_if<std::vector<std::string>>(&found))
            names_.insert_or_assign(host, Name{*addresses, Clock::now()});
        return found;
    }

    static bool environment_has_proxy() {
        constexpr const char* kNames[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                          "ALL_PROXY"};
        return std::any_of(std::begin(kNames), std::end(kNames), [](const char* name) {
            const char* value = std::getenv(name);
            return value != nullptr && *value != '\0';
        });
    }

    bool set_bounds(const Request& request) {
        const auto within = [](milliseconds time) {  // 0 would be "for ever"
            return static_cast<long>(std::clamp<milliseconds::rep>(time.count(), 1, 3'600'000));
        };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        // Since 7.85 there is CURLOPT_PROTOCOLS_STR, which 7.81 does not know.
        const bool web_only = set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#pragma GCC diagnostic pop
        if (curl_->version >= kQuickExitSince) set(kQuickExit, 1L);
        return web_only && set(CURLOPT_NOSIGNAL, 1L) && set(CURLOPT_FOLLOWLOCATION, 0L) &&
               set(CURLOPT_CONNECTTIMEOUT_MS, within(request.connect_timeout)) &&
               set(CURLOPT_TIMEOUT_MS, within(request.total_timeout)) &&
               set(CURLOPT_LOW_SPEED_LIMIT, kSlowBytesPerSecond) &&
               set(CURLOPT_LOW_SPEED_TIME, kSlowSeconds) &&
               set(CURLOPT_MAXFILESIZE_LARGE,
                   static_cast<curl_off_t>(std::min<std::size_t>(request.max_body_bytes, INT32_MAX))) &&
               set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1)) &&
               set(CURLOPT_HTTP09_ALLOWED, 0L) && set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate") &&
               set(CURLOPT_USERAGENT, "gpucheck");
    }

    bool set_trust(const Request& request) {
        bool done = set(CURLOPT_SSL_VERIFYPEER, 1L) && set(CURLOPT_SSL_VERIFYHOST, 2L) &&
                    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2)) &&
                    set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
        if (!request.ca_file.empty()) {  // instead of the system's, not beside them
            done = done && set(CURLOPT_CAINFO, request.ca_file.c_str()) &&
                   set(CURLOPT_CAPATH, static_cast<char*>(nullptr));
        }
        if (!request.pinned_public_key.empty())
            done = done && set(CURLOPT_PINNEDPUBLICKEY, request.pinned_public_key.c_str());
        if (direct_) done = done && set(CURLOPT_PROXY, "") && set(CURLOPT_NOPROXY, "*");
        return done && set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    }

    bool set_message(const Request& request) {
        if (!set(CURLOPT_URL, request.url.c_str())) return false;
        if (request.method == "GET" && request.body.empty()) return set(CURLOPT_HTTPGET, 1L);
        if (request.method == "HEAD") return set(CURLOPT_NOBODY, 1L);
        const bool bare = request.body.empty() && request.method != "POST" && request.method != "PUT" &&
                          request.method != "PATCH";
        if (!bare) {
            const bool body =
                set(CURLOPT_POST, 1L) &&
                set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size())) &&
                set(CURLOPT_POSTFIELDS, request.body.c_str());
            if (!body) return false;
        }
        return request.method == "POST" || set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }

    // The caller's headers and nothing that libcurl makes up: it calls every body a form and waits for
    // "100 Continue" before a large one.
    bool add_headers(const Request& request, curl_slist*& list) {
        std::vector<std::string> lines;
        bool typed = false;
        for (const Header& header : request.headers) {
            typed = typed || lowered(header.name) == "content-type";
            lines.push_back(header.name + (header.value.empty() ? ";" : ": " + header.value));
        }
        if (!typed) lines.emplace_back("Content-Type:");
        lines.emplace_back("Expect:");
        for (const std::string& line : lines) {
            if (!append(list, line)) return false;
        }
        return set(CURLOPT_HTTPHEADER, list);
    }

    bool append(curl_slist*& list, const std::string& line) {
        curl_slist* longer = curl_->slist_append(list, line.c_str());
        if (longer != nullptr) list = longer;
        return longer != nullptr;
    }

    bool pin_host(curl_slist*& list) {
        return pinned_host_.empty() || (append(list, pinned_host_) && set(CURLOPT_RESOLVE, list));
    }

    Outcome ask(const Request& request) {
        Arrival arrival;
        arrival.max_body_bytes = request.max_body_bytes;
        char said[CURL_ERROR_SIZE] = {};
        curl_slist* headers = nullptr;
        curl_slist* names = nullptr;
        const bool ready = set_bounds(request) && set_trust(request) && set_message(request) &&
                           add_headers(request, headers) && pin_host(names) &&
                           set(CURLOPT_ERRORBUFFER, said) && set(CURLOPT_WRITEFUNCTION, &on_body) &&
                           set(CURLOPT_WRITEDATA, &arrival) && set(CURLOPT_HEADERFUNCTION, &on_header) &&
                           set(CURLOPT_HEADERDATA, &arrival);
        Outcome outcome = Failed{Failure::local, "this libcurl lacks an option that bounds requests"};
        if (ready) {
            const CURLcode code = curl_->easy_perform(handle_);
            outcome = conclude(code, std::move(arrival), said);
        }
        curl_->slist_free_all(headers);
        curl_->slist_free_all(names);
        return outcome;
    }

    Outcome conclude(CURLcode code, Arrival arrival, const char* said) {
        if (arrival.out_of_memory) return Failed{Failure::local, "out of memory"};
        if (arrival.too_large)
            return Failed{Failure::too_large, "larger than " + std::to_string(arrival.max_body_bytes) +
                                                  " bytes, or headers larger than 256 KiB"};
        if (code != CURLE_OK) {
            CurlEnd end{code, 0, 0, said};
            curl_->easy_getinfo(handle_, CURLINFO_OS_ERRNO, &end.system_error);
            curl_->easy_getinfo(handle_, CURLINFO_HTTP_CONNECTCODE, &end.connect_code);
            std::string detail(said);
            if (detail.empty()) detail = "libcurl's error " + std::to_string(static_cast<int>(code));
            return Failed{failure_of(end), detail.substr(0, kMaxDetail)};
        }
        long status = 0;
        curl_->easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
        if (status < 100 || status > 999) return Failed{Failure::malformed, "no status in the answer"};
        arrival.response.status = static_cast<int>(status);
        return std::move(arrival.response);
    }

    struct Name {
        std::vector<std::string> addresses;
        Clock::time_point at;
    };

    const CurlLibrary* curl_ = nullptr;
    CURL* handle_ = nullptr;
    std::map<std::string, Name> names_;
    bool direct_ = true;       ///< of the request under way: without a proxy
    std::string pinned_host_;  ///< of the request under way: "+host:port:address,..."
};

}  // namespace

std::unique_ptr<Client> curl_client() {
    return std::make_unique<CurlClient>();
}

}  // namespace gpucheck::http

// Proof beside a report; see proof.h.
#include "providers/delivery/proof.h"

#include <algorithm>
#include <variant>

#include "providers/crypto/hash.h"
#include "providers/delivery/gzip.h"

namespace gpucheck::delivery {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMostDecoded = std::size_t{64} << 20U;

// Gives no request more time than is left of all.
class Hurried final : public http::Client {
  public:
    Hurried(http::Client& client, milliseconds most) : client_(client), end_(Clock::now() + most) {}
    http::Outcome perform(const http::Request& request) override {
        const auto left = std::chrono::duration_cast<milliseconds>(end_ - Clock::now());
        if (left <= milliseconds(0)) return http::Failed{http::Failure::timeout, "no time left"};
        http::Request hurried = request;
        hurried.connect_timeout = std::min(hurried.connect_timeout, left);
        hurried.total_timeout = std::min(hurried.total_timeout, left);
        return client_.perform(hurried);
    }

  private:
    http::Client& client_;
    Clock::time_point end_;
};

// SHA-256 of the report or envelope as the receiver has it after decoding; empty: not to be had.
std::string digest_of(const Entry& entry) {
    const auto hash = crypto::Hash::open();
    if (!std::holds_alternative<crypto::Hash>(hash)) return {};
    if (!entry.gzip) return crypto::hex(std::get<crypto::Hash>(hash).sha256(entry.body));
    const auto decoded = decompress(entry.body, kMostDecoded);
    return decoded ? crypto::hex(std::get<crypto::Hash>(hash).sha256(*decoded)) : std::string();
}

}  // namespace

std::variant<identity::Proof, Missing> Prover::ask(const Entry& entry, milliseconds most) {
    identity::Claim claim{entry.provider, entry.sink.url, {}, {}};
    if (entry.provider == "azure") claim.report_sha256 = digest_of(entry);  // no other proof holds it
    std::string no_token;
    if (!entry.sink.enrolment_token_file.empty()) {
        auto read = read_token_file(entry.sink.enrolment_token_file);
        if (auto* why = std::get_if<std::string>(&read)) no_token = std::move(*why);
        if (auto* token = std::get_if<Token>(&read)) claim.enrolment_token = std::move(token->value);
    }
    Hurried hurried(metadata_, most);
    auto given = identity::prove(claim, hurried);
    if (auto* missing = std::get_if<Missing>(&given); missing != nullptr && !no_token.empty())
        missing->why += "; the enrolment token: " + no_token;
    return given;
}

std::variant<std::vector<http::Header>, std::string> Prover::headers(const Entry& entry, milliseconds most) {
    const std::string key = entry.provider + " " + entry.sink.url;
    auto kept = kept_.find(key);
    if (kept == kept_.end()) {
        kept = kept_.insert_or_assign(key, ask(entry, most)).first;
    }
    if (const auto* none = std::get_if<Missing>(&kept->second)) return none->source + ": " + none->why;
    const identity::Proof proof = std::get<identity::Proof>(kept->second);
    if (proof.kind == "azure-attested") kept_.erase(kept);  // it holds this report's digest
    std::vector<http::Header> headers = {{"Gpucheck-Identity-Kind", proof.kind},
                                         {"Gpucheck-Identity", proof.value}};
    if (!proof.bound_to.empty()) headers.push_back({"Gpucheck-Identity-Bound-To", proof.bound_to});
    return headers;
}

}  // namespace gpucheck::delivery

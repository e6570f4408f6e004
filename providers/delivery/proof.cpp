// Proof beside a report; see proof.h.
#include "providers/delivery/proof.h"

#include <algorithm>
#include <variant>

#include "providers/crypto/hash.h"
#include "providers/delivery/gzip.h"
#include "providers/disk/files.h"

namespace gpucheck::delivery {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMostDecoded = std::size_t{64} << 20U;
constexpr std::size_t kMostToken = 4096;

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

std::string token_in(const std::string& path) {
    if (path.empty()) return {};
    const auto content = disk::read_file(path, kMostToken);
    const auto* read = std::get_if<disk::Content>(&content);
    if (read == nullptr) return {};
    return read->text.substr(0, read->text.find_last_not_of("\r\n") + 1);
}

}  // namespace

std::variant<std::vector<http::Header>, std::string> Prover::headers(const Entry& entry, milliseconds most) {
    const std::string key = entry.provider + " " + entry.sink.url;
    auto kept = kept_.find(key);
    if (kept == kept_.end()) {
        Hurried hurried(metadata_, most);
        auto given = identity::prove({entry.provider, entry.sink.url, digest_of(entry),
                                      token_in(entry.sink.enrolment_token_file), false},
                                     hurried);
        kept = kept_.insert_or_assign(key, std::move(given)).first;
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

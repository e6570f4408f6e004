// The loop over what waits; see flush.h.
#include "providers/delivery/flush.h"

#include <string.h>

#include <algorithm>
#include <map>
#include <optional>

#include "providers/delivery/message.h"
#include "providers/delivery/retry.h"

namespace gpucheck::delivery {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr unsigned kFaultsInARow = 3;  // of one receiver, with different reports: it is the receiver
constexpr milliseconds kLeastTime{50};

// What is known about one receiver during this flush.
struct Receiver {
    bool stopped = false;
    Hold hold;
    std::optional<std::variant<Token, std::string>> token;  // read once
    unsigned faults = 0;
};

struct Work {
    Shelf shelf;
    EntryName name;
};

class Round {
  public:
    Round(Spool& spool, http::Client& client, const FlushOptions& options)
        : spool_(spool), client_(client), options_(options) {}

    FlushResult run() {
        for (const Work& work : plan()) {
            if (Clock::now() + kLeastTime >= options_.end || !due(work)) {
                ++result_.waiting;
                continue;
            }
            attempt(work);
        }
        spool_.sync();
        return std::move(result_);
    }

  private:
    // Fails before passes, and what was never tried before what failed already.
    std::vector<Work> plan() const {
        std::vector<Work> all;
        for (const Shelf shelf : {Shelf::pending, Shelf::rejected}) {
            if (shelf == Shelf::rejected && !options_.rejected) continue;
            for (EntryName& name : spool_.list(shelf))
                if (options_.only.empty() || options_.only == name.report_id)
                    all.push_back({shelf, std::move(name)});
        }
        std::stable_sort(all.begin(), all.end(), [](const Work& a, const Work& b) {
            if (a.name.verdict != b.name.verdict) return a.name.verdict > b.name.verdict;
            return (a.name.attempts == 0) > (b.name.attempts == 0);
        });
        return all;
    }

    Receiver& receiver_of(const std::string& sink) {
        const auto [found, is_new] = receivers_.try_emplace(sink);
        Receiver& receiver = found->second;
        if (is_new) {
            receiver.hold = spool_.hold_of(sink);
            receiver.stopped = !options_.now && !is_due(receiver.hold.next_try_s, options_.now_s());
            if (receiver.stopped)
                tell(named(sink) + " was down (" + receiver.hold.last + ") and is not asked again yet");
        }
        return receiver;
    }

    std::string named(const std::string& key) const {
        for (const Sink& sink : options_.sinks)
            if (key_of(sink.url) == key) return shown(sink.url);
        return "a receiver";
    }

    bool due(const Work& work) {
        if (receiver_of(work.name.sink).stopped) return false;
        return options_.now || work.shelf == Shelf::rejected ||
               is_due(work.name.next_try_s, options_.now_s());
    }

    void attempt(const Work& work) {
        auto claim = spool_.claim(work.shelf, work.name);
        if (!claim) {
            ++result_.waiting;
            return;
        }
        auto read = spool_.read(*claim);
        if (const auto* why = std::get_if<std::string>(&read)) {
            ++result_.damaged;
            tell(*why);
            return;
        }
        Entry& entry = *std::get_if<Entry>(&read);
        for (const Sink& sink : options_.sinks)
            if (sink.url == entry.sink.url) entry.sink = sink;
        Receiver& receiver = receiver_of(work.name.sink);
        // A receiver that is down is asked ever less often, whichever report asks.
        const unsigned attempts = std::max(claim->name.attempts, receiver.hold.attempts);
        const Decision decision = decide(send(entry, receiver), attempts, options_.now_s(), options_.dice());
        settle(*claim, decision, receiver, shown(entry.sink.url));
    }

    http::Outcome send(const Entry& entry, Receiver& receiver) {
        if (const std::string why = refusal_of(entry.sink); !why.empty())
            return http::Failed{http::Failure::local, why};
        if (!receiver.token) {
            receiver.token = read_token(entry.sink);
            if (const auto* token = std::get_if<Token>(&*receiver.token);
                token != nullptr && !token->warning.empty())
                tell(token->warning);
        }
        if (const auto* why = std::get_if<std::string>(&*receiver.token))
            return http::Failed{http::Failure::local, *why};
        const auto left = std::chrono::duration_cast<milliseconds>(options_.end - Clock::now());
        const milliseconds own(
            static_cast<milliseconds::rep>(std::clamp(entry.sink.timeout_s, 0.1, 600.0) * 1000));
        http::Request request =
            request_of(entry, std::get_if<Token>(&*receiver.token)->value, std::min(left, own));
        if (request.body.size() > kMostBodyBytes)
            return http::Response{413, {}, {}};  // no receiver that follows the contract takes it
        if (entry.sink.prove_identity) add_proof(entry, request);
        return client_.perform(request);
    }

    void add_proof(const Entry& entry, http::Request& request) {
        if (!options_.proof) return;
        auto proof = options_.proof(entry);
        if (const auto* why = std::get_if<std::string>(&proof)) {
            tell(shown(entry.sink.url) + ": delivered without proof of which instance speaks: " + *why);
            return;
        }
        for (http::Header& header : *std::get_if<std::vector<http::Header>>(&proof))
            request.headers.push_back(std::move(header));
    }

    void settle(Claim& claim, const Decision& decision, Receiver& receiver, const std::string& where) {
        EntryName name = claim.name;
        ++name.attempts;
        name.last = decision.last;
        name.next_try_s = options_.now_s() + decision.wait_s;
        switch (decision.fate) {
            case Fate::accepted:
                spool_.delivered(claim);
                if (receiver.hold.attempts > 0) spool_.release(claim.name.sink);
                receiver.hold = {};
                receiver.faults = 0;
                ++result_.delivered;
                return;
            case Fate::rejected:
                name.next_try_s = 0;
                spool_.move(claim, Shelf::rejected, name);
                ++result_.rejected;
                receiver.faults = 0;
                tell(where + ": " + decision.last + ", " + decision.detail + "; kept: gpucheck report list");
                return;
            case Fate::later:
                break;
        }
        ++result_.failed;
        ++receiver.faults;
        tell(where + ": " + decision.last + ", " + decision.detail);
        spool_.move(claim, Shelf::pending, name);  // what was refused once may be accepted now
        if (decision.receiver_is_down || receiver.faults >= kFaultsInARow)
            stop(claim.name.sink, receiver, decision);
    }

    void stop(const std::string& sink, Receiver& receiver, const Decision& decision) {
        receiver.stopped = true;
        receiver.hold.attempts++;
        receiver.hold.last = decision.last;
        receiver.hold.next_try_s = options_.now_s() + decision.wait_s;
        spool_.hold(sink, receiver.hold);
    }

    void tell(const std::string& sentence) {
        constexpr std::size_t kMost = 20;
        const bool known =
            std::find(result_.told.begin(), result_.told.end(), sentence) != result_.told.end();
        if (!known && result_.told.size() < kMost) result_.told.push_back(sentence);
    }

    Spool& spool_;
    http::Client& client_;
    const FlushOptions& options_;
    FlushResult result_;
    std::map<std::string, Receiver> receivers_;
};

}  // namespace

FlushResult flush(Spool& spool, http::Client& client, const FlushOptions& options) {
    return Round(spool, client, options).run();
}

}  // namespace gpucheck::delivery

// Reports as they came, each once, and the keys that machines are bound to: who may speak for a machine is
// decided in the transaction that stores the report, or two receivers would decide differently.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fleet/collect/sql.h"

namespace gpucheck::fleet::collect {

/// What is known of a signature before the database is asked.
enum class Signer : std::uint8_t {
    none,    ///< unsigned, or by a key that nobody here has seen
    own,     ///< good by the key that the envelope itself carries: says only that it was not changed
    trusted  ///< good by a key of the operator's folder
};

/// A one-time token that the operator made, and that came with a report.
struct Enrolment {
    std::string sha256;   ///< hex
    std::string machine;  ///< only this one may use it; empty: the first machine that comes
};

/// Machines that a key of the operator's folder is bound to.
using KeyedMachines = std::set<std::string, std::less<>>;

struct Incoming {
    std::string report_id;
    std::string digest;  ///< SHA-256 of the decoded body
    std::int64_t received_ms = 0;
    std::string created;  ///< as the report says
    std::string at;  ///< the earlier of created and received: a clock that is ahead must not win for ever
    std::string node, machine, verdict;
    bool names_instance = false;  ///< `machine` is PROVIDER/INSTANCE_ID and not only a host name
    bool simulated = false;
    Signer signer = Signer::none;
    std::string key_id;
    std::string public_key;  ///< SubjectPublicKeyInfo, base64; with Signer::own
    std::optional<Enrolment> enrolment;
    std::string token;  ///< the name of the bearer token that brought it
    std::string content_type;
    bool gzip = false;
    std::string body;  ///< as it was sent
    bool refuse_unverified = false;
    std::shared_ptr<const KeyedMachines> keyed;  ///< nullptr: none
};

/// Whether a report whose signature or token belongs to `bound` may be that machine's: it names it; or
/// `bound` is an instance and it names none, as after a boot at which the metadata service was away; or
/// `bound` is its host name.
bool speaks_for(const std::string& bound, const Incoming& report);

enum class Taken : std::uint8_t {
    added,
    known,              ///< the same bytes are there
    conflict,           ///< another report has this id
    not_verified,       ///< and only verified ones are taken
    other_machine,      ///< the key is bound to another machine
    key_replaced,       ///< the machine has enrolled another key since
    machine_has_key,    ///< the machine has a key, and this report is not signed by it
    enrolment_refused,  ///< used by another key, or meant for another machine
    unreadable          ///< the database takes these values never
};

struct Row {
    std::int64_t seq = 0;
    std::int64_t received_ms = 0;
    std::string report_id, created, at, node, machine, verdict, key_id, token;
    bool verified = false, simulated = false;
};
struct Body {
    Row row;
    std::string content_type, bytes;
    bool gzip = false;
};

struct Question {
    std::string node;  ///< or the machine; empty: all
    std::string verdict;
    std::int64_t since_ms = 0;    ///< by receipt
    std::int64_t before_seq = 0;  ///< 0: from the newest on
    std::int64_t limit = 100;
};

template <class T>
using Or = std::variant<T, SqlError>;

class Store {
  public:
    /// Two connections: one that writes, one that reads. The tables are brought to today's version.
    static Or<std::unique_ptr<Store>> open(const std::string& database, const std::string& password);
    Store(std::unique_ptr<Sql> writer, std::unique_ptr<Sql> reader)
        : writer_(std::move(writer)), reader_(std::move(reader)) {}

    // By one thread only, the writer's:
    /// One transaction. Durable when it returns.
    Or<std::vector<Taken>> add(const std::vector<const Incoming*>& batch);
    std::optional<SqlError> pulse();
    /// Removes at most `most`; the number removed.
    Or<std::int64_t> forget(std::int64_t received_before_ms, std::int64_t most);

    // By any thread:
    /// Newest first.
    Or<std::vector<Row>> reports(const Question& question);
    Or<std::optional<Body>> report(const std::string& report_id);
    /// Each machine's newest, by the machine's name; of one that is known by key the newest that is verified.
    Or<std::vector<Row>> nodes(const std::string& after, std::int64_t limit);
    /// In order of arrival.
    Or<std::vector<Body>> after(std::int64_t seq, std::int64_t limit);
    struct Counts {
        std::int64_t reports = 0, first_seq = 0, last_seq = 0;
        std::vector<std::pair<std::string, std::int64_t>> verdicts;
    };
    Or<Counts> counts();

  private:
    Or<Taken> add_one(const Incoming& report);
    /// Whose report it is, and whether that is proven.
    struct Speaker {
        std::string machine;
        bool verified = false;
    };
    Or<Taken> judge(const Incoming& report, Speaker& speaker);
    Or<Taken> enrol(const Incoming& report, Speaker& speaker);
    Or<bool> has_key(const Incoming& report, const std::string& machine);
    SqlRows ask(const std::string& statement, const std::vector<SqlValue>& values = {});
    std::optional<SqlError> begin();
    template <class T>
    Or<T> failed(SqlError why);

    std::unique_ptr<Sql> writer_, reader_;
    std::uint64_t pulse_ = 1;
    std::mutex reading_;
    std::atomic<bool> condemned_ = false;  ///< damaged as somebody saw: nothing more is written into it
};

}  // namespace gpucheck::fleet::collect

// Adding reports; see store.h.
#include "fleet/collect/store.h"

#include "fleet/collect/schema.h"

namespace gpucheck::fleet::collect {
namespace {

using Rows = std::vector<SqlRow>;

OpenedSql open_one(const std::string& database, const std::string& password) {
    return is_postgres(database) ? open_postgres(database, password) : open_sqlite(database);
}

}  // namespace

bool speaks_for(const std::string& bound, const Incoming& report) {
    if (report.machine == bound) return true;
    const bool bound_to_instance = bound.find('/') != std::string::npos;
    return bound_to_instance ? !report.names_instance : report.node == bound;
}

Or<std::unique_ptr<Store>> Store::open(const std::string& database, const std::string& password) {
    auto writer = open_one(database, password);
    if (auto* why = std::get_if<SqlError>(&writer)) return std::move(*why);
    if (auto why = migrate(**std::get_if<std::unique_ptr<Sql>>(&writer))) return *std::move(why);
    auto reader = open_one(database, password);
    if (auto* why = std::get_if<SqlError>(&reader)) return std::move(*why);
    return std::make_unique<Store>(std::move(*std::get_if<std::unique_ptr<Sql>>(&writer)),
                                   std::move(*std::get_if<std::unique_ptr<Sql>>(&reader)));
}

Or<std::vector<Taken>> Store::add(const std::vector<const Incoming*>& batch) {
    std::vector<Taken> taken;
    taken.reserve(batch.size());
    auto why = begin();
    // Numbers are given before the commit: without the lock a reader could see 8 before 7 and never ask
    // for 7.
    if (!why && writer_->dialect() == Dialect::postgres) {
        auto rows = writer_->run("SELECT 1 FROM pg_advisory_xact_lock(7365921141)");
        if (auto* error = std::get_if<SqlError>(&rows)) why = std::move(*error);
    }
    for (std::size_t i = 0; !why && i < batch.size(); ++i) {
        auto one = add_one(*batch[i]);
        if (auto* error = std::get_if<SqlError>(&one))
            why = std::move(*error);
        else
            taken.push_back(*std::get_if<Taken>(&one));
    }
    if (!why) why = writer_->commit();
    if (!why) return taken;
    writer_->rollback();
    return failed<std::vector<Taken>>(*std::move(why));
}

Or<Taken> Store::add_one(const Incoming& report) {
    auto known = writer_->run("SELECT digest FROM reports WHERE report_id = $1", {report.report_id});
    if (auto* why = std::get_if<SqlError>(&known)) return std::move(*why);
    if (const auto& rows = *std::get_if<Rows>(&known); !rows.empty()) {
        const auto* digest = rows[0].empty() ? nullptr : std::get_if<Blob>(rows[0].data());
        return digest != nullptr && digest->bytes == report.digest ? Taken::known : Taken::conflict;
    }
    Speaker speaker{report.machine, false};
    auto judged = judge(report, speaker);
    const auto* outcome = std::get_if<Taken>(&judged);
    if (outcome == nullptr || *outcome != Taken::added) return judged;
    auto added = writer_->run(
        "INSERT INTO reports (report_id, digest, received_ms, created, at, node, machine, verdict, verified, "
        "simulated, key_id, token, content_type, gzip, body) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        {report.report_id, Blob{report.digest}, report.received_ms, report.created, report.at, report.node,
         speaker.machine, report.verdict, std::int64_t{speaker.verified}, std::int64_t{report.simulated},
         report.key_id, report.token, report.content_type, std::int64_t{report.gzip}, Blob{report.body}});
    if (auto* why = std::get_if<SqlError>(&added)) return std::move(*why);
    return Taken::added;
}

// Whether the report may speak for its machine. Taken::added: it may.
Or<Taken> Store::judge(const Incoming& report, Speaker& speaker) {
    if (report.signer == Signer::trusted) {
        speaker.verified = true;
        return Taken::added;
    }
    if (report.signer == Signer::own) {
        auto owner =
            writer_->run("SELECT machine, replaced_ms FROM machine_keys WHERE key_id = $1", {report.key_id});
        if (auto* why = std::get_if<SqlError>(&owner)) return std::move(*why);
        if (const auto& rows = *std::get_if<Rows>(&owner); !rows.empty()) {
            if (number_at(rows[0], 1) != 0) return Taken::key_replaced;
            // The key is the identity; which machine it is was settled when it was enrolled.
            const std::string bound = text_at(rows[0], 0);
            if (!speaks_for(bound, report)) return Taken::other_machine;
            if (report.keyed && report.keyed->contains(bound)) return Taken::machine_has_key;
            speaker = {bound, true};
            return Taken::added;
        }
        if (report.enrolment) {
            auto enrolled = enrol(report, speaker);
            const auto* outcome = std::get_if<Taken>(&enrolled);
            speaker.verified = outcome != nullptr && *outcome == Taken::added;
            return enrolled;
        }
    }
    // Who could not sign must not drown out who can.
    auto keyed = has_key(report, report.machine);
    if (auto* why = std::get_if<SqlError>(&keyed)) return std::move(*why);
    if (*std::get_if<bool>(&keyed)) return Taken::machine_has_key;
    return report.refuse_unverified ? Taken::not_verified : Taken::added;
}

// By the operator's folder, by enrolment, or by a report of it that a trusted key signed.
Or<bool> Store::has_key(const Incoming& report, const std::string& machine) {
    if (report.keyed && report.keyed->contains(machine)) return true;
    auto rows = writer_->run(
        "SELECT 1 FROM machine_keys WHERE machine = $1 AND replaced_ms = 0 UNION ALL "
        "SELECT 1 FROM reports WHERE machine = $1 AND verified = 1 LIMIT 1",
        {machine});
    if (auto* why = std::get_if<SqlError>(&rows)) return std::move(*why);
    return !std::get_if<Rows>(&rows)->empty();
}

Or<Taken> Store::enrol(const Incoming& report, Speaker& speaker) {
    const Enrolment& enrolment = *report.enrolment;
    if (!enrolment.machine.empty()) {
        if (!speaks_for(enrolment.machine, report)) return Taken::enrolment_refused;
        speaker.machine = enrolment.machine;
    }
    if (report.keyed && report.keyed->contains(speaker.machine)) return Taken::enrolment_refused;
    // A token for whoever comes first must not take a machine away from the key that it has.
    if (enrolment.machine.empty()) {
        auto keyed = has_key(report, speaker.machine);
        if (auto* why = std::get_if<SqlError>(&keyed)) return std::move(*why);
        if (*std::get_if<bool>(&keyed)) return Taken::enrolment_refused;
    }
    auto used = writer_->run("SELECT key_id FROM machine_keys WHERE enrolment = $1", {enrolment.sha256});
    if (auto* why = std::get_if<SqlError>(&used)) return std::move(*why);
    if (!std::get_if<Rows>(&used)->empty()) return Taken::enrolment_refused;
    auto replaced =
        writer_->run("UPDATE machine_keys SET replaced_ms = $1 WHERE machine = $2 AND replaced_ms = 0",
                     {report.received_ms, speaker.machine});
    if (auto* why = std::get_if<SqlError>(&replaced)) return std::move(*why);
    auto added = writer_->run(
        "INSERT INTO machine_keys (key_id, public_key, machine, enrolled_ms, replaced_ms, enrolment) "
        "VALUES ($1, $2, $3, $4, 0, $5) ON CONFLICT DO NOTHING",
        {report.key_id, report.public_key, speaker.machine, report.received_ms, enrolment.sha256});
    if (auto* why = std::get_if<SqlError>(&added)) return std::move(*why);
    return writer_->touched() == 1 ? Taken::added : Taken::enrolment_refused;
}

std::optional<SqlError> Store::begin() {
    if (condemned_)
        return SqlError{
            "the database is damaged: nothing is written into it until it is restored and the "
            "receiver restarted",
            true, StoreFault::corrupted};
    return writer_->begin();
}

template <class T>
Or<T> Store::failed(SqlError why) {
    // PostgreSQL repairs an index while it runs; SQLite's file is replaced.
    if (why.fault == StoreFault::corrupted && writer_->dialect() == Dialect::sqlite) condemned_ = true;
    return why;
}

SqlRows Store::ask(const std::string& statement, const std::vector<SqlValue>& values) {
    const std::lock_guard lock(reading_);
    auto rows = reader_->run(statement, values);
    if (auto* why = std::get_if<SqlError>(&rows)) return std::get<SqlError>(failed<bool>(std::move(*why)));
    return rows;
}

std::optional<SqlError> Store::pulse() {
    // As large as a large report and not compressible: a disk that has room for one page more is full.
    std::string weight(std::size_t{64} << 10U, '\0');
    for (char& byte : weight) {
        pulse_ = pulse_ * 6364136223846793005U + 1;
        byte = static_cast<char>(pulse_ >> 56U);
    }
    auto why = begin();
    if (!why) {
        auto rows = writer_->run("UPDATE pulse SET weight = $1 WHERE place = 1", {Blob{std::move(weight)}});
        if (auto* error = std::get_if<SqlError>(&rows)) why = std::move(*error);
    }
    if (!why) why = writer_->commit();
    if (!why) return std::nullopt;
    writer_->rollback();
    return std::get<SqlError>(failed<bool>(*std::move(why)));
}

Or<std::int64_t> Store::forget(std::int64_t received_before_ms, std::int64_t most) {
    auto why = begin();
    std::int64_t removed = 0;
    if (!why) {
        auto rows = writer_->run(
            "DELETE FROM reports WHERE seq IN (SELECT seq FROM reports WHERE received_ms < "
            "$1 ORDER BY received_ms LIMIT $2)",
            {received_before_ms, most});
        if (auto* error = std::get_if<SqlError>(&rows)) why = std::move(*error);
        removed = writer_->touched();
    }
    if (!why) why = writer_->commit();
    if (!why) return removed;
    writer_->rollback();
    return failed<std::int64_t>(*std::move(why));
}

}  // namespace gpucheck::fleet::collect

// Migrations; see schema.h.
#include "fleet/collect/schema.h"

#include <array>

namespace gpucheck::fleet::collect {
namespace {

struct Step {
    std::int64_t version;
    std::vector<const char*> statements;  // {serial}, {blob}: the dialect's words
};

const std::vector<Step>& steps() {
    static const std::vector<Step> kSteps = {
        {1,
         {R"(CREATE TABLE reports (
  seq {serial},
  report_id TEXT NOT NULL UNIQUE,
  digest {blob} NOT NULL,
  received_ms BIGINT NOT NULL,
  created TEXT NOT NULL,
  at TEXT NOT NULL,
  node TEXT NOT NULL,
  machine TEXT NOT NULL,
  verdict TEXT NOT NULL,
  verified BIGINT NOT NULL,
  simulated BIGINT NOT NULL,
  key_id TEXT NOT NULL,
  token TEXT NOT NULL,
  content_type TEXT NOT NULL,
  gzip BIGINT NOT NULL,
  body {blob} NOT NULL))",
          "CREATE INDEX reports_by_node ON reports (node, at, seq)",
          "CREATE INDEX reports_by_receipt ON reports (received_ms)",
          R"(CREATE TABLE machine_keys (
  key_id TEXT NOT NULL PRIMARY KEY,
  public_key TEXT NOT NULL,
  machine TEXT NOT NULL,
  enrolled_ms BIGINT NOT NULL,
  replaced_ms BIGINT NOT NULL,
  enrolment TEXT NOT NULL UNIQUE))",
          // One key speaks for a machine at a time, also when two receivers enrol at once.
          "CREATE UNIQUE INDEX machine_keys_in_force ON machine_keys (machine) WHERE replaced_ms = 0"}},
        {2,
         {"CREATE TABLE pulse (place BIGINT NOT NULL PRIMARY KEY, weight {blob} NOT NULL)",
          "INSERT INTO pulse (place, weight) VALUES (1, '')",
          "CREATE INDEX reports_by_verdict ON reports (verdict, seq)"}},
        {3,
         {// A host name is no identity: rows are a machine's, those that it signed before what others claim.
          "CREATE INDEX reports_by_machine ON reports (machine, verified, at, seq)"}},
    };
    return kSteps;
}

std::string in_dialect(std::string text, Dialect dialect) {
    const bool sqlite = dialect == Dialect::sqlite;
    const std::array<std::array<std::string_view, 2>, 2> words = {{
        {"{serial}", sqlite ? "INTEGER PRIMARY KEY AUTOINCREMENT" : "BIGSERIAL PRIMARY KEY"},
        {"{blob}", sqlite ? "BLOB" : "BYTEA"},
    }};
    for (const auto& [from, into] : words)
        for (auto at = text.find(from); at != std::string::npos; at = text.find(from))
            text.replace(at, from.size(), into);
    return text;
}

std::optional<SqlError> error_of(SqlRows rows) {
    if (auto* why = std::get_if<SqlError>(&rows)) return std::move(*why);
    return std::nullopt;
}

// Two receivers that start together must not both make the tables. SQLite's BEGIN IMMEDIATE locks already.
std::optional<SqlError> lock(Sql& sql) {
    if (sql.dialect() == Dialect::sqlite) return std::nullopt;
    return error_of(sql.run("SELECT 1 FROM pg_advisory_xact_lock(7365921140)"));
}

std::variant<std::int64_t, SqlError> version_of(Sql& sql) {
    auto rows = sql.run("SELECT CAST(COALESCE(MAX(version), 0) AS BIGINT) FROM gpucheck_fleet_schema");
    if (auto* why = std::get_if<SqlError>(&rows)) return std::move(*why);
    const auto& got = *std::get_if<std::vector<SqlRow>>(&rows);
    const auto* version = got.empty() || got[0].empty() ? nullptr : std::get_if<std::int64_t>(got[0].data());
    if (version == nullptr) return SqlError{"the table gpucheck_fleet_schema holds no version", false};
    return *version;
}

std::optional<SqlError> one_step(Sql& sql, const Step& step) {
    if (auto why = lock(sql)) return why;
    auto now = version_of(sql);
    if (auto* why = std::get_if<SqlError>(&now)) return std::move(*why);
    if (*std::get_if<std::int64_t>(&now) >= step.version) return std::nullopt;  // another receiver's work
    for (const char* statement : step.statements)
        if (auto why = error_of(sql.run(in_dialect(statement, sql.dialect())))) return why;
    return error_of(sql.run("INSERT INTO gpucheck_fleet_schema (version) VALUES ($1)", {step.version}));
}

template <class Do>
std::optional<SqlError> in_transaction(Sql& sql, Do work) {
    auto why = sql.begin();
    if (!why) why = work();
    if (!why) why = sql.commit();
    if (why) sql.rollback();
    return why;
}

}  // namespace

std::optional<SqlError> migrate(Sql& sql, std::int64_t to) {
    auto why = in_transaction(sql, [&]() -> std::optional<SqlError> {
        if (auto locked = lock(sql)) return locked;
        return error_of(sql.run(
            "CREATE TABLE IF NOT EXISTS gpucheck_fleet_schema (version BIGINT NOT NULL PRIMARY KEY)"));
    });
    if (why) return why;
    auto now = version_of(sql);
    if (auto* error = std::get_if<SqlError>(&now)) return std::move(*error);
    const std::int64_t version = *std::get_if<std::int64_t>(&now);
    if (version > kSchemaVersion)
        return SqlError{"the database is of version " + std::to_string(version) +
                            ", this program knows up to " + std::to_string(kSchemaVersion) +
                            ": a newer gpucheck-fleet made it",
                        false};
    for (const Step& step : steps())
        if (step.version > version && step.version <= to)
            if ((why = in_transaction(sql, [&] { return one_step(sql, step); }))) return why;
    return std::nullopt;
}

}  // namespace gpucheck::fleet::collect

// A database, as narrow as reports need it: statements with values, transactions, and whether a failure is
// the connection's. SQLite and PostgreSQL differ below this line and nowhere above it, so that both are
// tested by one suite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gpucheck::fleet::collect {

struct Blob {
    std::string bytes;
};
/// What goes into $1, $2, ... (they appear first in this order in each statement) and what comes out.
using SqlValue = std::variant<std::int64_t, std::string, Blob>;
using SqlRow = std::vector<SqlValue>;
/// "" and 0 where the row has no such value.
inline std::string text_at(const SqlRow& row, std::size_t index) {
    const auto* text = index < row.size() ? std::get_if<std::string>(&row[index]) : nullptr;
    return text == nullptr ? std::string() : *text;
}
inline std::int64_t number_at(const SqlRow& row, std::size_t index) {
    const auto* number = index < row.size() ? std::get_if<std::int64_t>(&row[index]) : nullptr;
    return number == nullptr ? 0 : *number;
}

/// What is wrong with a store, as /healthz and /metrics name it.
enum class StoreFault : std::uint8_t { none, other, unreachable, busy, full, read_only, replaced, corrupted };

inline std::string_view name_of(StoreFault fault) {
    constexpr std::string_view kNames[] = {"none", "other",     "unreachable", "busy",
                                           "full", "read_only", "replaced",    "corrupted"};
    return kNames[static_cast<std::size_t>(fault)];
}

struct SqlError {
    std::string what;   ///< never a password
    bool lost = false;  ///< the store's fault, not the values': the sender keeps them and asks again
    StoreFault fault = StoreFault::other;
};
using SqlRows = std::variant<std::vector<SqlRow>, SqlError>;

enum class Dialect : std::uint8_t { sqlite, postgres };

/// One connection; used by one thread at a time.
class Sql {
  public:
    virtual ~Sql() = default;
    virtual Dialect dialect() const = 0;
    virtual SqlRows run(const std::string& statement, const std::vector<SqlValue>& values = {}) = 0;
    /// Rows that the last INSERT, UPDATE or DELETE touched.
    virtual std::int64_t touched() const = 0;
    /// A durable commit: when it returns nullopt the rows survive a power cut.
    virtual std::optional<SqlError> begin() = 0;
    virtual std::optional<SqlError> commit() = 0;
    virtual void rollback() = 0;
};

using OpenedSql = std::variant<std::unique_ptr<Sql>, SqlError>;
/// Makes the file (mode 0600) where it is missing, but no folder.
OpenedSql open_sqlite(const std::string& file);
/// `url` without a password. A connection that breaks is made again by the next begin() or by a run() outside
/// a transaction.
OpenedSql open_postgres(const std::string& url, const std::string& password);

inline bool is_postgres(std::string_view database) {
    return database.starts_with("postgresql://") || database.starts_with("postgres://");
}

}  // namespace gpucheck::fleet::collect

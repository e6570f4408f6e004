// SQLite under reports; see sql.h. synchronous=FULL: in WAL mode NORMAL does not sync at a commit, and what
// was answered 201 would be gone after a power cut (https://sqlite.org/pragma.html#pragma_synchronous).
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "fleet/collect/database.h"
#include "fleet/collect/sql.h"

namespace gpucheck::fleet::collect {
namespace {

constexpr int kBusyMs = 5'000;  // another process of the operator's: a backup, the sqlite3 shell

struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
};
using Handle = std::unique_ptr<sqlite3, Close>;

// Only these are about what was to be stored (https://sqlite.org/rescode.html); all others are the store's.
bool is_of_values(int code) {
    switch (code & 0xff) {
        case SQLITE_CONSTRAINT:
        case SQLITE_TOOBIG:
        case SQLITE_MISMATCH:
        case SQLITE_RANGE:
            return true;
        default:
            return false;
    }
}

StoreFault fault_of(int code) {
    switch (code & 0xff) {
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return StoreFault::corrupted;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return StoreFault::busy;
        case SQLITE_FULL:
            return StoreFault::full;
        case SQLITE_READONLY:
            return StoreFault::read_only;
        case SQLITE_CANTOPEN:
            return StoreFault::unreachable;
        default:
            return StoreFault::other;
    }
}

SqlValue column(sqlite3_stmt* statement, int index) {
    const auto bytes = [&] { return static_cast<std::size_t>(sqlite3_column_bytes(statement, index)); };
    switch (sqlite3_column_type(statement, index)) {
        case SQLITE_INTEGER:
            return static_cast<std::int64_t>(sqlite3_column_int64(statement, index));
        case SQLITE_BLOB: {
            const auto* from = static_cast<const char*>(sqlite3_column_blob(statement, index));
            return Blob{from == nullptr ? std::string() : std::string(from, bytes())};
        }
        case SQLITE_NULL:
            return std::string();
        default: {
            const auto* from = reinterpret_cast<const char*>(sqlite3_column_text(statement, index));
            return from == nullptr ? std::string() : std::string(from, bytes());
        }
    }
}

bool is_text(const SqlValue& value, std::string_view text) {
    const auto* held = std::get_if<std::string>(&value);
    return held != nullptr && *held == text;
}

class Sqlite final : public Sql {
  public:
    Sqlite(Handle handle, const std::string& file) : handle_(std::move(handle)), files_(file) {}
    Dialect dialect() const override { return Dialect::sqlite; }

    SqlRows run(const std::string& text, const std::vector<SqlValue>& values) override {
        // Inside a transaction commit() looks.
        if (sqlite3_get_autocommit(handle_.get()) != 0)
            if (auto why = replaced()) return *std::move(why);
        sqlite3_stmt* statement = prepared(text);
        if (statement == nullptr) return error();
        int code = SQLITE_OK;
        for (std::size_t i = 0; i < values.size() && code == SQLITE_OK; ++i)
            code = bind(statement, static_cast<int>(i) + 1, values[i]);
        std::vector<SqlRow> rows;
        while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
            SqlRow row;
            for (int i = 0; i < sqlite3_column_count(statement); ++i) row.push_back(column(statement, i));
            rows.push_back(std::move(row));
            code = SQLITE_OK;
        }
        const bool done = code == SQLITE_DONE;
        SqlError why = done ? SqlError{} : error();
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
        if (!done) return why;
        return rows;
    }
    std::int64_t touched() const override { return sqlite3_changes(handle_.get()); }
    // IMMEDIATE: a transaction that begins as a reader may find at its first write that it cannot have the
    // lock.
    std::optional<SqlError> begin() override { return just("BEGIN IMMEDIATE"); }
    // Looked at behind the commit, too: what went into files that have no names any more is not kept.
    std::optional<SqlError> commit() override {
        auto why = replaced();
        if (!why) why = just("COMMIT");
        if (!why) why = replaced();
        return why;
    }
    void rollback() override {
        if (sqlite3_get_autocommit(handle_.get()) == 0) just("ROLLBACK");
    }

    /// From now on the names must lead to the files that are open.
    void watch() {
        files_.take();
        watching_ = true;
    }

  private:
    // SQLite itself knows whether the open file has lost its name; the log and the index it does not watch.
    std::optional<SqlError> replaced() const {
        if (!watching_) return std::nullopt;
        auto why = files_.changed();
        int moved = 0;
        if (!why &&
            sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
            moved != 0)
            why = "the database's file was replaced or removed while it was in use: restart the receiver";
        if (!why) return std::nullopt;
        return SqlError{"SQLite: " + *why, true, StoreFault::replaced};
    }
    std::optional<SqlError> just(const char* text) {
        auto rows = run(text, {});
        if (auto* why = std::get_if<SqlError>(&rows)) return std::move(*why);
        return std::nullopt;
    }
    SqlError error() const {
        const int code = sqlite3_errcode(handle_.get());
        return {std::string("SQLite: ") + sqlite3_errmsg(handle_.get()), !is_of_values(code), fault_of(code)};
    }
    sqlite3_stmt* prepared(const std::string& text) {
        const auto known = statements_.find(text);
        if (known != statements_.end()) return known->second.get();
        sqlite3_stmt* made = nullptr;
        if (sqlite3_prepare_v3(handle_.get(), text.data(), static_cast<int>(text.size()),
                               SQLITE_PREPARE_PERSISTENT, &made, nullptr) != SQLITE_OK)
            return nullptr;
        return statements_.emplace(text, Statement(made)).first->second.get();
    }
    // SQLITE_STATIC: the values live until the statement is reset.
    static int bind(sqlite3_stmt* statement, int index, const SqlValue& value) {
        if (const auto* number = std::get_if<std::int64_t>(&value))
            return sqlite3_bind_int64(statement, index, *number);
        if (const auto* text = std::get_if<std::string>(&value))
            return sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_STATIC,
                                       SQLITE_UTF8);
        const std::string& bytes = std::get_if<Blob>(&value)->bytes;
        return sqlite3_bind_blob64(statement, index, bytes.data(), bytes.size(), SQLITE_STATIC);
    }

    Handle handle_;
    FileIdentity files_;
    bool watching_ = false;
    std::map<std::string, Statement> statements_;  // destroyed before the handle
};

}  // namespace

OpenedSql open_sqlite(const std::string& file) {
    // Made here and not by SQLite, whose mode would be the umask's: reports name serial numbers. Only where
    // it is missing: closing any descriptor of a database takes away the locks of every connection of this
    // process (https://sqlite.org/howtocorrupt.html, 2.2), and another program that looks in would then
    // remove the log.
    const int made = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made < 0 && errno != EEXIST) return SqlError{file + ": " + std::strerror(errno), false};
    if (made >= 0) ::close(made);
    sqlite3* opened = nullptr;
    const int code =
        sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    Handle handle(opened);
    if (code != SQLITE_OK)
        return SqlError{file + ": " + sqlite3_errstr(code), !is_of_values(code), fault_of(code)};
    sqlite3_busy_timeout(opened, kBusyMs);
    sqlite3_extended_result_codes(opened, 1);
    auto sql = std::make_unique<Sqlite>(std::move(handle), file);
    for (const char* pragma :
         {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON",
          "PRAGMA trusted_schema=OFF", "PRAGMA journal_size_limit=67108864", "PRAGMA wal_autocheckpoint=8000",
          // Makes the log and the index, so that they can be watched.
          "SELECT COUNT(*) FROM sqlite_master"}) {
        auto rows = sql->run(pragma, {});
        if (auto* why = std::get_if<SqlError>(&rows))
            return SqlError{file + ": " + why->what, why->lost, why->fault};
        const auto& got = *std::get_if<std::vector<SqlRow>>(&rows);
        if (std::string_view(pragma).ends_with("=WAL") &&
            (got.empty() || got[0].empty() || !is_text(got[0][0], "wal")))
            return SqlError{file + ": SQLite cannot keep a write-ahead log there (a network file system?)",
                            false};
    }
    sql->watch();
    return sql;
}

}  // namespace gpucheck::fleet::collect

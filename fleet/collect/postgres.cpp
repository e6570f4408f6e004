// PostgreSQL under reports; see sql.h. What libpqxx 6.4 (Debian 12) and 7 (Ubuntu 24.04) both have: values
// travel as text, bytea as hexadecimal.
#include <map>
#include <pqxx/pqxx>

#include "fleet/collect/sql.h"
#include "providers/crypto/hash.h"

namespace gpucheck::fleet::collect {
namespace {

constexpr pqxx::oid kInt8 = 20, kInt4 = 23, kBytea = 17;  // PostgreSQL's pg_type.dat

int nibble(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
std::string unhex(std::string_view text) {  // "\x6869"
    std::string bytes;
    for (std::size_t i = 2; i + 1 < text.size(); i += 2)
        bytes += static_cast<char>(nibble(text[i]) * 16 + nibble(text[i + 1]));
    return bytes;
}

std::string as_text(const SqlValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return "\\x" + crypto::hex(std::get_if<Blob>(&value)->bytes);
}

SqlValue from_field(const pqxx::field& field, pqxx::oid type) {
    if (field.is_null()) return std::string();
    const std::string_view text(field.c_str(), field.size());
    if (type == kInt8 || type == kInt4) return field.as<std::int64_t>();
    if (type == kBytea) return Blob{unhex(text)};
    return std::string(text);
}

// libpq's complaints may repeat the connection string's user and host, never the password; one line.
std::string one_line(std::string text) {
    for (char& c : text)
        if (c == '\n' || c == '\r') c = ' ';
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return "PostgreSQL: " + text.substr(0, 500);
}

class Postgres final : public Sql {
  public:
    Postgres(std::string url, const std::string& password) : url_(std::move(url)), password_(password) {}
    Dialect dialect() const override { return Dialect::postgres; }

    SqlRows run(const std::string& text, const std::vector<SqlValue>& values) override {
        std::vector<SqlRow> rows;
        auto why = guarded([&] {
            if (!work_ && !alive()) connect();
            const std::string& name = prepared(text);
            if (work_) {
                rows = execute(*work_, name, values);
            } else {
                pqxx::nontransaction alone(*connection_);
                rows = execute(alone, name, values);
            }
        });
        if (why) return *std::move(why);
        return rows;
    }
    std::int64_t touched() const override { return touched_; }
    std::optional<SqlError> begin() override {
        return guarded([&] {
            work_.reset();
            if (!alive()) connect();
            work_ = std::make_unique<pqxx::work>(*connection_);
        });
    }
    std::optional<SqlError> commit() override {
        if (!work_) return SqlError{"PostgreSQL: the connection broke", true, StoreFault::unreachable};
        auto why = guarded([&] { work_->commit(); });
        work_.reset();
        return why;
    }
    void rollback() override {
        guarded([&] {
            if (work_) work_->abort();
        });
        work_.reset();
    }

  private:
    template <class Do>
    std::optional<SqlError> guarded(Do what) {
        try {
            what();
            return std::nullopt;
        } catch (const pqxx::broken_connection& error) {
            drop();
            return SqlError{one_line(error.what()), true, StoreFault::unreachable};
        } catch (const pqxx::in_doubt_error& error) {  // the sender asks again; its key says whether it came
            drop();
            return SqlError{one_line(error.what()), true, StoreFault::unreachable};
        } catch (const pqxx::sql_error& error) {
            // Only these classes of SQLSTATE are about the values: PostgreSQL, appendix A. The others are the
            // server's: a damaged index, a table that is gone, no right to write.
            const std::string state = error.sqlstate();
            const std::string kind = state.substr(0, 2);
            const bool lost = kind != "22" && kind != "23" && kind != "54";
            const auto fault = state == "XX001" || state == "XX002" ? StoreFault::corrupted
                               : state == "25006"                   ? StoreFault::read_only
                               : kind == "53"                       ? StoreFault::full
                               : kind == "40" || kind == "55"       ? StoreFault::busy
                               : kind == "57" || kind == "08"       ? StoreFault::unreachable
                                                                    : StoreFault::other;
            return SqlError{one_line(error.what()), lost, fault};
        } catch (const std::exception& error) {
            drop();
            return SqlError{one_line(error.what()), true, StoreFault::unreachable};
        }
    }
    bool alive() const { return connection_ != nullptr && connection_->is_open(); }
    void drop() {
        work_.reset();
        connection_.reset();
        names_.clear();
    }
    void connect() {
        drop();
        connection_ = std::make_unique<pqxx::connection>(whole_url());
#if PQXX_VERSION_MAJOR < 7
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        connection_->inhibit_reactivation(true);  // it would come back without what is set below
#pragma GCC diagnostic pop
#endif
        pqxx::nontransaction setting(*connection_);
        // A database may be configured otherwise, and a 201 would then be a hope.
        setting.exec("SET synchronous_commit = on");
        setting.exec("SET bytea_output = hex");
        setting.exec("SET client_encoding = 'UTF8'");
        setting.exec("SET standard_conforming_strings = on");
        setting.exec("SET statement_timeout = '60s'");
        setting.exec("SET lock_timeout = '10s'");
        setting.exec("SET idle_in_transaction_session_timeout = '60s'");
    }
    // What the operator said of it stays. The password goes to libpq in memory: not by arguments, the
    // environment or a log.
    std::string whole_url() const {
        std::string url = url_;
        const auto add = [&url](std::string_view name, const std::string& value) {
            if (url.find(std::string(name) + "=") != std::string::npos) return;
            url += (url.find('?') == std::string::npos ? "?" : "&") + std::string(name) + "=" + value;
        };
        // A server that vanished must not hold the writer for the two hours of TCP's own keepalive.
        add("connect_timeout", "5");
        add("tcp_user_timeout", "15000");
        add("keepalives_idle", "10");
        add("keepalives_interval", "5");
        std::string encoded;
        for (const char c : password_) encoded += "%" + crypto::hex(std::string(1, c));
        if (!encoded.empty()) add("password", encoded);
        return url;
    }
    const std::string& prepared(const std::string& text) {
        const auto known = names_.find(text);
        if (known != names_.end()) return known->second;
        const std::string name = "s" + std::to_string(++made_);
        connection_->prepare(name, text);
        return names_.emplace(text, name).first->second;
    }
    std::vector<SqlRow> execute(pqxx::transaction_base& in, const std::string& name,
                                const std::vector<SqlValue>& values) {
        std::vector<std::string> texts;
        texts.reserve(values.size());
        for (const SqlValue& value : values) texts.push_back(as_text(value));
#if PQXX_VERSION_MAJOR >= 7
        pqxx::params given;
        for (const std::string& text : texts) given.append(text);
        const pqxx::result result = in.exec_prepared(name, given);
#else
        const pqxx::result result = in.exec_prepared(name, pqxx::prepare::make_dynamic_params(texts));
#endif
        touched_ = static_cast<std::int64_t>(result.affected_rows());
        std::vector<SqlRow> rows;
        rows.reserve(static_cast<std::size_t>(result.size()));
        for (const auto& each : result) {
            SqlRow row;
            for (const auto& field : each) row.push_back(from_field(field, field.type()));
            rows.push_back(std::move(row));
        }
        return rows;
    }

    std::string url_, password_;
    std::unique_ptr<pqxx::connection> connection_;
    std::unique_ptr<pqxx::work> work_;
    std::map<std::string, std::string> names_;
    std::int64_t touched_ = 0;
    std::size_t made_ = 0;
};

}  // namespace

OpenedSql open_postgres(const std::string& url, const std::string& password) {
    auto sql = std::make_unique<Postgres>(url, password);
    auto rows = sql->run("SELECT 1", {});
    if (auto* why = std::get_if<SqlError>(&rows)) return std::move(*why);
    return sql;
}

}  // namespace gpucheck::fleet::collect

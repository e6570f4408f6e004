// Reading reports back; see store.h. Each answer is one short statement: a reader that stays in a
// transaction would keep SQLite's log from ever being folded into the database.
#include "fleet/collect/store.h"

#include <algorithm>

namespace gpucheck::fleet::collect {
namespace {

constexpr const char* kColumns =
    "seq, received_ms, report_id, created, node, machine, verdict, key_id, token, verified, simulated, at";

Row row_of(const SqlRow& row) {
    Row result;
    result.seq = number_at(row, 0);
    result.received_ms = number_at(row, 1);
    std::size_t at = 2;
    for (std::string* into : {&result.report_id, &result.created, &result.node, &result.machine,
                              &result.verdict, &result.key_id, &result.token})
        *into = text_at(row, at++);
    result.verified = number_at(row, 9) != 0;
    result.simulated = number_at(row, 10) != 0;
    result.at = text_at(row, 11);
    return result;
}

Body body_of(const SqlRow& row) {
    Body body{row_of(row), text_at(row, 12), {}, number_at(row, 13) != 0};
    if (const auto* blob = row.size() > 14 ? std::get_if<Blob>(&row[14]) : nullptr) body.bytes = blob->bytes;
    return body;
}

template <class T, class Make>
Or<std::vector<T>> all_of(SqlRows rows, Make make) {
    if (auto* why = std::get_if<SqlError>(&rows)) return std::move(*why);
    std::vector<T> result;
    for (const SqlRow& row : *std::get_if<std::vector<SqlRow>>(&rows)) result.push_back(make(row));
    return result;
}

}  // namespace

Or<std::vector<Row>> Store::reports(const Question& question) {
    std::string where = "seq < $1 AND received_ms >= $2";
    std::vector<SqlValue> values = {question.before_seq > 0 ? question.before_seq : INT64_MAX,
                                    question.since_ms};
    const auto also = [&](const char* before, const std::string& value, const char* behind) {
        values.emplace_back(value);
        where += std::string(before) + "$" + std::to_string(values.size()) + behind;
    };
    if (!question.verdict.empty()) also(" AND verdict = ", question.verdict, "");
    if (!question.node.empty()) {
        also(" AND (node = ", question.node, "");
        also(" OR machine = ", question.node, ")");
    }
    values.emplace_back(question.limit);
    const std::string statement = std::string("SELECT ") + kColumns + " FROM reports WHERE " + where +
                                  " ORDER BY seq DESC LIMIT $" + std::to_string(values.size());
    return all_of<Row>(ask(statement, values), row_of);
}

Or<std::optional<Body>> Store::report(const std::string& report_id) {
    auto found = all_of<Body>(ask(std::string("SELECT ") + kColumns +
                                      ", content_type, gzip, body FROM reports WHERE report_id = $1",
                                  {report_id}),
                              body_of);
    if (auto* why = std::get_if<SqlError>(&found)) return std::move(*why);
    auto& bodies = *std::get_if<std::vector<Body>>(&found);
    return bodies.empty() ? std::nullopt : std::optional(std::move(bodies.front()));
}

Or<std::vector<Row>> Store::nodes(const std::string& after, std::int64_t limit) {
    return all_of<Row>(
        ask(std::string("WITH n AS (SELECT DISTINCT machine AS name FROM reports WHERE machine > $1 ORDER BY "
                        "name LIMIT $2) SELECT ") +
                kColumns +
                " FROM n, reports WHERE seq = (SELECT seq FROM reports WHERE machine = n.name ORDER BY "
                "verified DESC, at DESC, seq DESC LIMIT 1) ORDER BY machine",
            {after, limit}),
        row_of);
}

Or<std::vector<Body>> Store::after(std::int64_t seq, std::int64_t limit) {
    return all_of<Body>(ask(std::string("SELECT ") + kColumns +
                                ", content_type, gzip, body FROM reports WHERE seq > $1 ORDER BY seq "
                                "LIMIT $2",
                            {seq, limit}),
                        body_of);
}

Or<Store::Counts> Store::counts() {
    auto rows = ask(
        "SELECT verdict, CAST(COUNT(*) AS BIGINT), CAST(MIN(seq) AS BIGINT), CAST(MAX(seq) AS BIGINT) FROM "
        "reports GROUP BY verdict ORDER BY verdict");
    if (auto* why = std::get_if<SqlError>(&rows)) return std::move(*why);
    Counts counts;
    for (const SqlRow& row : *std::get_if<std::vector<SqlRow>>(&rows)) {
        counts.verdicts.emplace_back(text_at(row, 0), number_at(row, 1));
        counts.reports += number_at(row, 1);
        const std::int64_t first = number_at(row, 2);
        counts.first_seq = counts.first_seq == 0 ? first : std::min(counts.first_seq, first);
        counts.last_seq = std::max(counts.last_seq, number_at(row, 3));
    }
    return counts;
}

}  // namespace gpucheck::fleet::collect

// Checks a table of claims row by row; see cost_claims.h.
#include "agent/cost_claims.h"

#include <algorithm>
#include <vector>

#include "agent/report/escape.h"
#include "checks/cost/money.h"
#include "checks/cost/shortfall.h"

namespace gpucheck {
namespace {

using Cells = std::vector<std::string>;

Cells cells_of(std::string_view line) {
    Cells cells(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            cells.emplace_back();
        } else if (c != '\r' && !(c == ' ' && cells.back().empty())) {
            cells.back() += c;
        }
    }
    for (std::string& cell : cells) {
        while (cell.ends_with(' ')) cell.pop_back();
    }
    return cells;
}

struct Columns {
    std::optional<std::size_t> name, hour, gpu_hour, tokens, token, million, gpus;
};

Columns columns_of(const Cells& header) {
    const auto find = [&](std::string_view name) -> std::optional<std::size_t> {
        const auto at = std::find(header.begin(), header.end(), name);
        return at == header.end() ? std::nullopt : std::optional<std::size_t>(at - header.begin());
    };
    Columns columns{std::nullopt,         find("usd_per_hour"),  find("usd_per_gpu_hour"),
                    find("tokens_per_s"), find("usd_per_token"), find("usd_per_million_tokens"),
                    find("gpus")};
    for (const auto& column :
         {columns.hour, columns.gpu_hour, columns.tokens, columns.token, columns.million, columns.gpus}) {
        if (column == 0U) return columns;
    }
    columns.name = 0;
    return columns;
}

std::optional<double> number_at(const Cells& cells, std::optional<std::size_t> column) {
    return column && *column < cells.size() ? number_from(cells[*column]) : std::nullopt;
}

std::optional<cost::Claim> claim_of(const Cells& cells, const Columns& columns) {
    auto price = number_at(cells, columns.hour);
    if (!price) {
        price = number_at(cells, columns.gpu_hour);
        const auto gpus = columns.gpus ? number_at(cells, columns.gpus) : std::optional(1.0);
        if (!price || !gpus) return std::nullopt;
        *price *= *gpus;
    }
    const auto tokens = number_at(cells, columns.tokens);
    auto each = number_at(cells, columns.token);
    if (!each) {
        each = number_at(cells, columns.million);
        if (each) *each /= 1e6;
    }
    if (!tokens || !each) return std::nullopt;
    return cost::Claim{*price, *tokens, *each};
}

void add_row(ClaimReport& report, const std::string& name, const std::optional<cost::Claim>& claim) {
    ++report.rows;
    const cost::ClaimVerdict verdict = claim ? cost::check_claim(*claim) : cost::ClaimVerdict{};
    Json row{{"row", name}, {"agrees", nullptr}, {"usd_per_token", nullptr}, {"factor", nullptr}};
    if (!verdict.usd_per_token) {
        ++report.unreadable;
        report.text += name + ": not three positive numbers: nothing to compare\n";
    } else {
        row["agrees"] = verdict.agrees;
        row["usd_per_token"] = *verdict.usd_per_token;
        row["factor"] = verdict.factor;
        const std::string computed =
            cost::three_digits(*verdict.usd_per_token * 1e6) + " USD per million tokens";
        if (verdict.agrees) {
            report.text += name + ": agrees, " + computed + "\n";
        } else {
            ++report.wrong;
            const bool high = verdict.factor > 1;
            report.text += name + ": WRONG: " + cost::three_digits(claim->usd_gpu_hour) + " USD/h at " +
                           cost::three_digits(claim->tokens_per_s) + " tokens/s is " + computed + ", not " +
                           cost::three_digits(claim->usd_per_token * 1e6) + ": " +
                           cost::three_digits(high ? verdict.factor : 1 / verdict.factor) +
                           (high ? " times too high\n" : " times too low\n");
        }
    }
    report.json.push_back(std::move(row));
}

}  // namespace

std::variant<ClaimReport, UsageError> check_claims(std::string_view csv, const std::string& name) {
    ClaimReport report;
    report.json = Json::array();
    std::optional<Columns> columns;
    std::size_t number = 0;
    while (!csv.empty()) {
        const std::size_t end = std::min(csv.find('\n'), csv.size());
        std::string_view line = csv.substr(0, end);
        csv.remove_prefix(std::min(end + 1, csv.size()));
        if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
        ++number;
        if (line.find_first_not_of(" \r\t") == std::string_view::npos) continue;
        const Cells cells = cells_of(line);
        if (!columns) {
            columns = columns_of(cells);
            const bool priced = columns->hour || columns->gpu_hour;
            if (!priced || !columns->tokens || !(columns->token || columns->million)) {
                return UsageError{
                    name +
                    ": the header needs usd_per_hour or usd_per_gpu_hour, tokens_per_s, and usd_per_token or "
                    "usd_per_million_tokens"};
            }
            continue;
        }
        std::string row = "line " + std::to_string(number);
        if (columns->name && !cells[0].empty()) row += " (" + report::plain(cells[0].substr(0, 60)) + ")";
        add_row(report, row, claim_of(cells, *columns));
    }
    if (!columns) return UsageError{name + ": no header line"};
    return report;
}

}  // namespace gpucheck

// Every measurement of every GPU, as text columns that the browser takes apart only when somebody looks at
// them.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "fleet/page/data.h"

namespace gpucheck::fleet {
namespace {

// A report may name as many columns as it likes, and each costs a place for every node: what most nodes have
// is shown.
constexpr std::size_t kMostMetrics = 48;
constexpr std::size_t kMostChecks = 200;
constexpr std::size_t kMostCosts = 64;

// The keys that most have, at most so many; how many were left out goes to `left_out`.
template <class Key>
std::vector<Key> most_common(const std::map<Key, std::size_t>& counts, std::size_t most,
                             std::size_t& left_out) {
    std::vector<std::pair<std::size_t, Key>> ranked;
    for (const auto& [key, count] : counts) ranked.emplace_back(count, key);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    left_out = ranked.size() - std::min(ranked.size(), most);
    ranked.resize(ranked.size() - left_out);
    std::vector<Key> kept;
    for (auto& [count, key] : ranked) kept.push_back(std::move(key));
    std::sort(kept.begin(), kept.end());
    return kept;
}

// "712.3,,698": one place for each GPU in the order of the nodes, empty where it was not measured.
void add_values(PageData& data) {
    std::map<std::string, std::size_t> counts;
    std::size_t gpus = 0, left_out = 0;
    for (std::size_t node = 0; node < data.listed; ++node) {
        for (const Gpu& gpu : data.report(node).gpus) {
            for (const Value& value : gpu.values) ++counts[data.fleet.names.text(value.metric)];
            ++gpus;
        }
    }
    const std::vector<std::string> metrics = most_common(counts, kMostMetrics, left_out);
    struct Column {
        std::string text;
        std::size_t places = 0;
    };
    std::unordered_map<Name, Column> columns;
    for (const std::string& metric : metrics) columns[data.fleet.names.find(metric)];
    std::size_t at = 0;
    for (std::size_t node = 0; node < data.listed; ++node) {
        for (const Gpu& gpu : data.report(node).gpus) {
            for (const Value& value : gpu.values) {
                const auto found = columns.find(value.metric);
                if (found == columns.end() || found->second.places > at) continue;
                Column& column = found->second;
                column.text.append(at - column.places, ',');
                column.text += short_number(static_cast<double>(value.value)) + ',';
                column.places = at + 1;
            }
            ++at;
        }
    }
    data.json.key("metrics_left_out");
    data.json.whole(static_cast<std::int64_t>(left_out));
    data.json.key("values");
    data.json.open('{');
    for (const std::string& metric : metrics) {
        Column& column = columns[data.fleet.names.find(metric)];
        column.text.append(gpus - column.places, ',');
        data.json.key(metric);
        data.json.digits(column.text);
    }
    data.json.close('}');
}

// One row of cost[] is one column over the nodes.
using CostKey = std::tuple<std::string, std::string, double>;

void add_cost_columns(PageData& data, const std::map<CostKey, std::vector<const CostRow*>>& rows) {
    data.json.key("costs");
    data.json.open('[');
    for (const auto& [key, nodes] : rows) {
        std::string tokens, usd;
        for (const CostRow* row : nodes) {
            if (row != nullptr && row->tokens_per_s > 0)
                tokens += short_number(static_cast<double>(row->tokens_per_s));
            if (row != nullptr && row->usd_per_m_output > 0)
                usd += short_number(static_cast<double>(row->usd_per_m_output));
            tokens += ',';
            usd += ',';
        }
        data.json.open('{');
        data.json.member("model", std::get<0>(key));
        data.json.member("precision", std::get<1>(key));
        data.json.key("concurrency");
        data.json.number(std::get<2>(key));
        data.json.key("tokens");
        data.json.digits(tokens);
        data.json.key("usd");
        data.json.digits(usd);
        data.json.close('}');
    }
    data.json.close(']');
}

}  // namespace

void add_gpus(PageData& data) {
    std::vector<std::int64_t> bdf, board, firmware;
    std::vector<std::string> identity;
    std::string verdict;
    for (std::size_t node = 0; node < data.listed; ++node) {
        for (const Gpu& gpu : data.report(node).gpus) {
            bdf.push_back(data.name(gpu.bdf));
            board.push_back(data.name(gpu.board));
            firmware.push_back(data.name(gpu.firmware));
            identity.push_back(gpu.identity);
            verdict += static_cast<char>('0' + static_cast<int>(gpu.verdict));
        }
    }
    data.json.key("gpu");
    data.json.open('{');
    data.json.wholes("bdf", bdf);
    data.json.wholes("board", board);
    data.json.wholes("firmware", firmware);
    data.json.texts("identity", identity, 80);
    data.json.key("verdict");
    data.json.digits(verdict);
    add_values(data);
    data.json.close('}');
}

// A digit for each check of each node, '.' where it did not run: the heat map.
void add_checks(PageData& data) {
    std::map<std::string, std::size_t> counts;
    std::size_t left_out = 0;
    for (std::size_t node = 0; node < data.listed; ++node) {
        for (const CheckState& state : data.report(node).checks) ++counts[data.fleet.names.text(state.check)];
    }
    const std::vector<std::string> checks = most_common(counts, kMostChecks, left_out);
    std::unordered_map<Name, std::size_t> places;
    for (std::size_t i = 0; i < checks.size(); ++i) places[data.fleet.names.find(checks[i])] = i;
    data.json.texts("checks", checks);
    data.json.key("checks_left_out");
    data.json.whole(static_cast<std::int64_t>(left_out));
    data.json.key("check_rows");
    data.json.open('[');
    for (std::size_t node = 0; node < data.listed; ++node) {
        std::string row(checks.size(), '.');
        for (const CheckState& state : data.report(node).checks) {
            const auto place = places.find(state.check);
            if (place == places.end()) continue;
            char& cell = row[place->second];
            cell = std::max(cell, static_cast<char>('0' + static_cast<int>(state.verdict)));
        }
        data.json.digits(row);
    }
    data.json.close(']');
}

void add_costs(PageData& data) {
    const auto key_of = [&](const CostRow& row) {
        const double concurrency = static_cast<double>(row.concurrency);
        return CostKey{data.fleet.names.text(row.model), data.fleet.names.text(row.precision),
                       std::isfinite(concurrency) ? concurrency : 0};
    };
    std::map<CostKey, std::size_t> counts;
    std::size_t left_out = 0;
    for (std::size_t node = 0; node < data.listed; ++node) {
        for (const CostRow& row : data.report(node).costs) ++counts[key_of(row)];
    }
    std::map<CostKey, std::vector<const CostRow*>> rows;
    for (const CostKey& key : most_common(counts, kMostCosts, left_out)) rows[key].resize(data.listed);
    for (std::size_t node = 0; node < data.listed; ++node) {
        for (const CostRow& row : data.report(node).costs) {
            if (const auto column = rows.find(key_of(row)); column != rows.end()) column->second[node] = &row;
        }
    }
    data.json.key("costs_left_out");
    data.json.whole(static_cast<std::int64_t>(left_out));
    add_cost_columns(data, rows);
}

}  // namespace gpucheck::fleet

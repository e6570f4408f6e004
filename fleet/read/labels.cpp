// Labels from CSV; see labels.h.
#include "fleet/read/labels.h"

#include <algorithm>
#include <map>
#include <variant>
#include <vector>

#include "providers/disk/files.h"

namespace gpucheck::fleet {
namespace {

using Row = std::vector<std::string>;
constexpr std::size_t kFileBytes = std::size_t{64} << 20U, kMostLabels = 64, kCellBytes = 512;

// One line's cells; nullopt when a quote does not end or a cell is none.
std::optional<Row> cells_of(std::string_view line) {
    Row row(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\t') || byte == 0x7f) return std::nullopt;
        if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
            row.back() += '"';
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            row.emplace_back();
        } else {
            row.back() += c;
        }
        if (row.back().size() > kCellBytes || row.size() > kMostLabels + 1) return std::nullopt;
    }
    if (quoted) return std::nullopt;
    for (std::string& cell : row) {
        const auto first = cell.find_first_not_of(" \t"), last = cell.find_last_not_of(" \t");
        cell = first == std::string::npos ? "" : cell.substr(first, last - first + 1);
    }
    return row;
}

struct Table {
    Row names;
    std::map<std::string, Row, std::less<>> nodes;
};

std::variant<Table, std::string> parse(const std::string& text, const std::string& path) {
    Table table;
    std::size_t number = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = std::string_view(text).substr(at, end - at);
        at = end + 1;
        ++number;
        if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) continue;
        const std::string where = path + ":" + std::to_string(number) + ": ";
        auto row = cells_of(line);
        if (!row) return where + "is no line of a CSV file of labels";
        if (table.names.empty()) {
            table.names = std::move(*row);
            Row sorted = table.names;
            std::sort(sorted.begin(), sorted.end());
            if (table.names.size() < 2 || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() ||
                std::count(table.names.begin() + 1, table.names.end(), "") > 0)
                return where + "must name the columns: the node first, then each label once";
            continue;
        }
        if (row->size() != table.names.size())
            return where + "has " + std::to_string(row->size()) + " cells, the first line has " +
                   std::to_string(table.names.size());
        if (row->front().empty()) return where + "names no node";
        const auto [known, added] = table.nodes.emplace(row->front(), *row);
        if (!added && known->second != *row)
            return where + row->front() + " has other labels than in an earlier line";
    }
    if (table.names.empty()) return path + ": is empty";
    return table;
}

void add(NodeReport& report, const Row& names, const Row& cells, Vocabulary& vocabulary) {
    for (std::size_t i = 1; i < names.size(); ++i) {
        if (cells[i].empty()) continue;
        const Name name = vocabulary.intern(names[i]), value = vocabulary.intern(cells[i]);
        const auto known = std::find_if(report.labels.begin(), report.labels.end(),
                                        [&](const auto& label) { return label.first == name; });
        if (known != report.labels.end()) {
            known->second = value;
        } else {
            report.labels.emplace_back(name, value);
        }
    }
    std::sort(report.labels.begin(), report.labels.end(), [&](const auto& a, const auto& b) {
        return vocabulary.text(a.first) < vocabulary.text(b.first);
    });
}

}  // namespace

std::optional<std::string> add_labels(Fleet& fleet, const std::string& path) {
    const auto content = disk::read_file(path, kFileBytes);
    if (const auto* error = std::get_if<disk::Error>(&content)) return error->what;
    const auto parsed = parse(std::get<disk::Content>(content).text, path);
    if (const auto* error = std::get_if<std::string>(&parsed)) return *error;
    const Table& table = std::get<Table>(parsed);
    std::size_t labelled = 0;
    for (NodeReport& report : fleet.reports) {
        // A host name with a "/" in it may be another machine's key.
        const bool alone = report.node.find('/') == std::string::npos;
        auto row = alone ? table.nodes.find(report.node) : table.nodes.end();
        if (row == table.nodes.end()) row = table.nodes.find(report.key);
        if (row == table.nodes.end()) continue;
        add(report, table.names, row->second, fleet.names);
        ++labelled;
    }
    if (labelled == 0 && !fleet.reports.empty())
        fleet.remarks.push_back(
            path + ": names none of the nodes that were read, such as " +
            std::min_element(fleet.reports.begin(), fleet.reports.end(), [](const auto& a, const auto& b) {
                return a.node < b.node;
            })->node);
    return std::nullopt;
}

}  // namespace gpucheck::fleet

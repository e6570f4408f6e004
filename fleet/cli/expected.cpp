// The nodes that somebody expects; see expected.h.
#include "fleet/cli/expected.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "fleet/analysis/selection.h"
#include "fleet/model/read.h"
#include "providers/disk/files.h"

namespace gpucheck::fleet {
namespace {

constexpr std::size_t kFileBytes = std::size_t{64} << 20U, kNameBytes = 512;

using Names = std::set<std::string, std::less<>>;

std::string_view trimmed(std::string_view line) {
    const auto first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
    return first == std::string_view::npos ? std::string_view() : line.substr(first, last - first + 1);
}

bool is_name(std::string_view text) {
    if (text.size() > kNameBytes) return false;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) return false;
    }
    return true;
}

std::variant<Names, std::string> read_names(const std::string& file) {
    const auto content = disk::read_file(file, kFileBytes);
    if (const auto* error = std::get_if<disk::Error>(&content)) return error->what;
    std::string_view text = std::get<disk::Content>(content).text;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    Names names;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.front() == '#') continue;
        if (!is_name(line)) return file + ":" + std::to_string(number) + ": is no name of a node";
        names.emplace(line);
    }
    // A list that was not filled in would expect nobody, and find everybody.
    if (names.empty()) return file + " names no node";
    return names;
}

// "n1" of "reports/n1.json.gz:1"; empty: no such file, or not its first report.
std::string_view name_of_file(std::string_view where) {
    if (where.ends_with(":1")) where.remove_suffix(2);
    where.remove_prefix(where.rfind('/') + 1);  // npos + 1 is 0
    for (const std::string_view packed : {".gz", ".xz", ".zst"})
        if (where.ends_with(packed)) where.remove_suffix(packed.size());
    for (const std::string_view kind : {".json", ".jsonl", ".report"})
        if (where.ends_with(kind)) return where.substr(0, where.size() - kind.size());
    return {};
}

// The one expected node that this report tells of; the end: none.
Names::const_iterator answered(const Names& expected, const NodeReport& report) {
    const std::string_view node = report.node;
    for (const std::string_view name :
         {name_of_file(report.where), node, std::string_view(report.key), node.substr(0, node.find('.'))}) {
        if (const auto found = expected.find(name); found != expected.end()) return found;
    }
    return expected.end();
}

}  // namespace

std::optional<std::string> note_missing(Fleet& fleet, const Policy& policy, const std::string& file) {
    Names expected;
    if (!file.empty()) {
        auto read = read_names(file);
        if (auto* error = std::get_if<std::string>(&read)) return std::move(*error);
        expected = std::get<Names>(std::move(read));
    }
    // Whom an earlier summary missed may have answered elsewhere.
    const auto carried = std::remove_if(fleet.rejected.begin(), fleet.rejected.end(),
                                        [](const Rejected& row) { return row.missing; });
    std::for_each(carried, fleet.rejected.end(), [&](const Rejected& row) { expected.insert(row.where); });
    fleet.rejected.erase(carried, fleet.rejected.end());
    if (expected.empty()) return std::nullopt;
    Names missing = expected;
    // One machine answers for one name: an older report of it under another name is not another machine's.
    for (const NodeResult& node : select_reports(fleet, policy).nodes) {
        const NodeReport& report = fleet.reports[node.report];
        // A rehearsal tells nothing of the node's hardware.
        if (report.simulated || report.injected) continue;
        if (const auto found = answered(expected, report); found != expected.end()) missing.erase(*found);
    }
    for (const std::string& node : missing)
        fleet.rejected.push_back({node, "is expected, and no report of it counts", 1, true});
    settle(fleet);
    return std::nullopt;
}

}  // namespace gpucheck::fleet

// Loads gpus.json and finds the row of a PCI function; see boards.h.
#include "checks/specs/boards.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "checks/json/elements.h"
#include "checks/specs/board_rows.h"
#include "checks/specs/data_file.h"

extern "C" const char gpucheck_gpus_json_begin[];
extern "C" const char gpucheck_gpus_json_end[];

namespace gpucheck {
namespace {

constexpr const char* kFile = "gpus.json";

std::string_view embedded_text() {
    return {gpucheck_gpus_json_begin,
            static_cast<std::size_t>(gpucheck_gpus_json_end - gpucheck_gpus_json_begin)};
}

// The values of these elements; those that do not parse are left out (a test demands that none is).
Json values_of(const std::vector<std::string_view>& texts) {
    Json list = Json::array();
    for (const std::string_view text : texts) {
        auto parsed = parse_json(text);
        if (Json* value = std::get_if<Json>(&parsed)) list.push_back(std::move(*value));
    }
    return list;
}

std::string hex16_text(std::uint16_t id) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "%04x", static_cast<unsigned>(id));
    return text.data();
}

std::string id_text(std::uint16_t vendor, std::uint16_t device) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%04x:%04x", static_cast<unsigned>(vendor),
                  static_cast<unsigned>(device));
    return text.data();
}

std::string ids_text(const PciFunction& function) {
    std::string text = id_text(*function.vendor, *function.device) + " subsystem ";
    if (function.sub_vendor.known() && function.sub_device.known()) {
        return text + id_text(*function.sub_vendor, *function.sub_device);
    }
    const auto& missing = function.sub_vendor.known() ? function.sub_device : function.sub_vendor;
    return text + "unreadable (" + missing.why() + ")";
}

std::optional<std::uint32_t> subsystem_of(const PciFunction& function) {
    if (!function.sub_vendor.known() || !function.sub_device.known()) return std::nullopt;
    return std::uint32_t{*function.sub_vendor} << 16 | *function.sub_device;
}

// Edits that turn one text into the other.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row[b.size()];
}

Board seen_as_virtual_function(const BoardRow& row) {
    Board board = row.board;
    board.virtual_function = true;
    // A VF shows less than the physical function, and with several VFs a share of it: only its own figure
    // will do.
    board.memory_bytes = row.memory_bytes_vf;
    return board;
}

std::string match_source(const BoardRow& row, const std::string& ids) {
    return "gpus.json " + row.board.key + ": " + ids;
}

}  // namespace

const Peak* BoardRow::peak(std::string_view metric) const {
    const auto found =
        std::find_if(peaks.begin(), peaks.end(), [&](const Peak& peak) { return peak.metric == metric; });
    return found != peaks.end() ? &*found : nullptr;
}

bool BoardRow::is_unverified(std::string_view field) const {
    return std::find(unverified.begin(), unverified.end(), field) != unverified.end();
}

std::variant<BoardTable, std::string> BoardTable::load(const std::string& folder) {
    try {
        if (folder.empty()) return embedded();
        auto file = load_data_file(folder, kFile, embedded_text());
        if (auto* error = std::get_if<std::string>(&file)) return std::move(*error);
        if (!std::get<DataFile>(file).overridden) return embedded();
        BoardTable table;
        table.document_ = std::move(std::get<DataFile>(file).document);
        std::string error = table.read(table.document_, std::get<DataFile>(file).name);
        if (!error.empty()) return error;
        return table;
    } catch (const std::exception& error) {  // out of memory: nothing else throws
        return std::string(kFile) + ": " + error.what();
    }
}

std::string BoardTable::read(const Json& document, const std::string& file_name) {
    RowReader reader(file_name);
    if (!reader.object(document, "the file", {"$schema", "schema_version", "boards", "switches"}))
        return reader.error();
    if (reader.whole(document, "schema_version", 0, 1000000) != 1) reader.complain("schema_version is not 1");
    const Json* boards = reader.array(document, "boards");
    if (boards == nullptr || boards->empty()) reader.complain("boards are missing");
    if (!reader.ok()) return reader.error();
    rows_.reserve(boards->size());
    for (const Json& row : *boards) {
        const Json* key = RowReader::member(row, "key");
        std::string name = "row " + std::to_string(rows_.size() + 1);
        if (key != nullptr && key->is_string())
            name += " (" + key->get_ref<const std::string&>().substr(0, 60) + ")";
        reader.at_row(std::move(name));
        rows_.push_back(read_board_row(row, reader));
        if (!reader.ok()) return reader.error();
        const BoardRow& added = rows_.back();
        for (std::size_t i = 0; i + 1 < rows_.size(); ++i) {
            const BoardRow& other = rows_[i];
            if (other.board.key == added.board.key) reader.complain("this key stands twice");
        }
        for (std::size_t i = 0; i < added.ids.size(); ++i) {
            const auto same = [&](const BoardId& id) {
                const BoardId& mine = added.ids[i];
                return id.vendor == mine.vendor && id.device == mine.device && id.subsystem == mine.subsystem;
            };
            bool twice = std::count_if(added.ids.begin(), added.ids.end(), same) > 1;
            for (std::size_t j = 0; j + 1 < rows_.size(); ++j) {
                twice = twice || std::any_of(rows_[j].ids.begin(), rows_[j].ids.end(), same);
            }
            if (twice)
                reader.complain("id " + id_text(added.ids[i].vendor, added.ids[i].device) + " stands twice");
        }
        if (!reader.ok()) return reader.error();
    }
    if (const Json* switches = reader.array(document, "switches")) read_switches(*switches, reader);
    return reader.error();
}

void BoardTable::read_switches(const Json& list, RowReader& reader) {
    for (const Json& entry : list) {
        reader.at_row("switches");
        if (!reader.object(entry, "the row", {"vendor", "device", "name", "source"})) break;
        switches_.push_back(
            {reader.hex16(entry, "vendor"), reader.hex16(entry, "device"), reader.text(entry, "name")});
        reader.text(entry, "source");
    }
}

BoardTable BoardTable::embedded() {
    BoardTable table;
    table.unread_ = elements_of(embedded_text(), "boards");
    table.rows_.resize(table.unread_.size());
    RowReader reader(kFile);
    table.read_switches(values_of(elements_of(embedded_text(), "switches")), reader);
    return table;
}

void BoardTable::read_row(std::size_t index) const {
    const Json list = values_of({unread_[index]});
    unread_[index] = {};
    if (list.empty()) return;
    RowReader reader(kFile);
    BoardRow row = read_board_row(list[0], reader);
    if (reader.ok()) rows_[index] = std::move(row);  // a test demands that each row is
}

void BoardTable::read_rows_with(std::string_view text) const {
    if (unread_.empty() || !searched_.emplace(text).second) return;
    for (std::size_t i = 0; i < unread_.size(); ++i) {
        if (unread_[i].find(text) != std::string_view::npos) read_row(i);
    }
}

const std::vector<BoardRow>& BoardTable::rows() const {
    read_rows_with("");
    unread_.clear();
    return rows_;
}

const Json& BoardTable::document() const {
    if (document_.is_null()) {
        auto parsed = parse_json(embedded_text());
        if (Json* value = std::get_if<Json>(&parsed)) document_ = std::move(*value);
    }
    return document_;
}

std::optional<BoardTable::IdRef> BoardTable::find_id(std::uint16_t vendor, std::uint16_t device,
                                                     std::optional<std::uint32_t> subsystem) const {
    read_rows_with(hex16_text(device));
    for (const BoardRow& row : rows_) {
        for (const BoardId& id : row.ids) {
            if (id.vendor == vendor && id.device == device && id.subsystem == subsystem)
                return IdRef{&id, &row};
        }
    }
    return std::nullopt;
}

bool BoardTable::has_subsystem_rows(std::uint16_t vendor, std::uint16_t device) const {
    read_rows_with(hex16_text(device));
    return std::any_of(rows_.begin(), rows_.end(), [&](const BoardRow& row) {
        return std::any_of(row.ids.begin(), row.ids.end(), [&](const BoardId& id) {
            return id.vendor == vendor && id.device == device && id.subsystem.has_value();
        });
    });
}

Fact<Board> BoardTable::match(const PciFunction& function) const {
    if (!function.vendor.known()) return Missing{kFile, "vendor id unreadable: " + function.vendor.why()};
    if (!function.device.known()) return Missing{kFile, "device id unreadable: " + function.device.why()};
    const std::uint16_t vendor = *function.vendor, device = *function.device;
    for (const Switch& known : switches_) {
        if (known.vendor == vendor && known.device == device) {
            return Missing{kFile, id_text(vendor, device) + " is no GPU: " + known.name};
        }
    }
    if (const auto exact = subsystem_of(function); exact) {
        if (const auto found = find_id(vendor, device, exact)) {
            Board board =
                found->id->virtual_function ? seen_as_virtual_function(*found->row) : found->row->board;
            return Fact<Board>(std::move(board), match_source(*found->row, ids_text(function)));
        }
    }
    const auto own = find_id(vendor, device, std::nullopt);
    if (own && own->id->virtual_function) return match_virtual(function, *own);
    return match_physical(function, vendor, device);
}

Fact<Board> BoardTable::match_physical(const PciFunction& function, std::uint16_t vendor,
                                       std::uint16_t device) const {
    const std::string ids = ids_text(function);
    if (!subsystem_of(function) && has_subsystem_rows(vendor, device)) {
        return Missing{kFile, "rows for " + ids + " differ by subsystem"};
    }
    const auto found = find_id(vendor, device, std::nullopt);
    if (!found) return Missing{kFile, "no row for " + ids};
    return Fact<Board>(found->row->board, match_source(*found->row, ids));
}

Fact<Board> BoardTable::match_virtual(const PciFunction& function, const IdRef& own) const {
    const std::string ids = ids_text(function);
    if (!subsystem_of(function)) {
        return Fact<Board>(seen_as_virtual_function(*own.row), match_source(*own.row, ids));
    }
    // The subsystem of an AMD virtual function names the physical part: 1002:74b5 with 1002:74a1 is an
    // MI300X.
    const auto physical = find_id(*function.sub_vendor, *function.sub_device, std::nullopt);
    if (!physical || physical->id->virtual_function) return Missing{kFile, "no row for " + ids};
    return Fact<Board>(seen_as_virtual_function(*physical->row), match_source(*physical->row, ids));
}

const BoardRow* BoardTable::find_row(std::string_view key) const {
    constexpr std::size_t kLongest = 500;  // what the reader takes; a row that is not read has none
    if (key.empty() || key.size() > kLongest) return nullptr;
    read_rows_with(key);
    const auto found =
        std::find_if(rows_.begin(), rows_.end(), [&](const BoardRow& row) { return row.board.key == key; });
    return found != rows_.end() ? &*found : nullptr;
}

const Board* BoardTable::find(std::string_view key) const {
    const BoardRow* row = find_row(key);
    return row != nullptr ? &row->board : nullptr;
}

std::vector<std::string> BoardTable::near_keys(std::string_view key) const {
    constexpr std::size_t kMost = 3;
    key = key.substr(0, 64);
    std::vector<std::pair<std::size_t, std::string>> ranked;
    for (const BoardRow& row : rows()) {
        // A key that only lacks its ending ("h100") is nearer than one with a slip.
        const bool beginning = !key.empty() && row.board.key.starts_with(key);
        ranked.emplace_back(beginning ? 0 : distance(key, row.board.key), row.board.key);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::string> near;
    for (const auto& [edits, name] : ranked) {
        if (near.size() == kMost || edits > std::max<std::size_t>(2, key.size() / 2)) break;
        near.push_back(name);
    }
    return near;
}

}  // namespace gpucheck

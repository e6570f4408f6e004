// The board table: what a GPU with these PCI ids is supposed to be, with a source for every figure, so that
// nothing expected of a GPU comes from the GPU itself.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checks/model/board.h"
#include "checks/model/fact.h"
#include "checks/model/pcie.h"
#include "checks/specs/row_reader.h"

namespace gpucheck {

struct BoardId {
    std::uint16_t vendor = 0, device = 0;
    std::optional<std::uint32_t> subsystem;  ///< vendor << 16 | device; set: only boards with this subsystem
    bool virtual_function = false;
};

/// What the maker prints for one PCI function, dense. Metrics are listed in docs/specs.md ("fp8_tflops",
/// ...).
struct Peak {
    std::string metric;
    Figure value;
    bool unverified = false;
    std::string source;
};

/// What a vendor's own acceptance demands. A healthy board reaches value * accept_fraction in `test`.
struct Floor {
    std::string metric;  ///< a peak's, "memory_<kernel>_gb_s", "memory_gb_s" or "host_link_gb_s"
    double value = 0;
    double accept_fraction = 1;
    std::string test, source;
    bool unverified = false;
};

struct BoardLink {
    std::string name;                    ///< "NVLink4", "xGMI"
    std::optional<std::uint64_t> count;  ///< links that a healthy board has up, in a system that wires them
    std::optional<Figure> total_gb_s;    ///< all links, both directions
};

/// One row of gpus.json.
struct BoardRow {
    Board board;  ///< as seen through its physical function
    std::vector<BoardId> ids;
    unsigned functions_per_board = 1;  ///< MI250X: 2; all figures but power and link are of one function
    Fact<Figure> memory_gb, memory_bandwidth_gb_s, tdp_w;
    Fact<std::uint64_t> memory_bytes_vf;  ///< what the driver shows through a VF that owns the whole board
    std::optional<double> llc_mb;         ///< last-level cache
    std::vector<Peak> peaks;
    std::vector<Floor> floors;
    std::optional<BoardLink> link;
    std::vector<std::string> unverified;  ///< "memory.bandwidth_gb_s"
    std::string note;

    const Peak* peak(std::string_view metric) const;
    bool is_unverified(std::string_view field) const;
};

class BoardTable {
  public:
    /// The table inside the binary, or gpus.json of `folder` where that has one ("" for none). The error
    /// names file and row. Rows of the former are read when they are asked for; for one thread.
    static std::variant<BoardTable, std::string> load(const std::string& folder = {});

    /// The board behind a PCI function, by ids alone; marketing names lie (field case wandb/wandb PR#5449). A
    /// row for the subsystem wins over one for the device. An AMD virtual function is the board that its
    /// subsystem device id names, or, where the subsystem could not be read, the one its own id belongs to.
    /// Missing names the ids to send in.
    Fact<Board> match(const PciFunction& function) const;

    const Board* find(std::string_view key) const;
    const BoardRow* find_row(std::string_view key) const;
    const std::vector<BoardRow>& rows() const;
    /// Keys closest to a misspelt one, best first, at most 3.
    std::vector<std::string> near_keys(std::string_view key) const;
    /// The rows as they stand in the file, with every source.
    const Json& document() const;

  private:
    struct Switch {
        std::uint16_t vendor = 0, device = 0;
        std::string name;
    };
    struct IdRef {
        const BoardId* id = nullptr;
        const BoardRow* row = nullptr;
    };
    BoardTable() = default;
    static BoardTable embedded();
    std::string read(const Json& document, const std::string& file_name);
    void read_switches(const Json& list, RowReader& reader);
    void read_row(std::size_t index) const;
    /// Reads the rows in which `text` stands anywhere: no other can be about it.
    void read_rows_with(std::string_view text) const;
    Fact<Board> match_physical(const PciFunction& function, std::uint16_t vendor, std::uint16_t device) const;
    Fact<Board> match_virtual(const PciFunction& function, const IdRef& own) const;
    std::optional<IdRef> find_id(std::uint16_t vendor, std::uint16_t device,
                                 std::optional<std::uint32_t> subsystem) const;
    bool has_subsystem_rows(std::uint16_t vendor, std::uint16_t device) const;

    mutable std::vector<BoardRow> rows_;            ///< without key and ids as long as it is not read
    mutable std::vector<std::string_view> unread_;  ///< their texts, empty for those read; none: all are
    mutable std::set<std::string, std::less<>> searched_;
    std::vector<Switch> switches_;
    mutable Json document_;  ///< null until asked for, of the table inside the binary
};

/// Rows whose key, name or an id contains `filter` (no case; all when empty), as a table for people; figures
/// without a confirmed source carry "?".
std::string render_specs_text(const BoardTable& boards, std::string_view filter);
/// {"schema_version", "boards": [rows as in gpus.json]}.
Json render_specs_json(const BoardTable& boards, std::string_view filter);

}  // namespace gpucheck

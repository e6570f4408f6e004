// Reports from wherever they lie: what cannot be read is listed, never skipped, or a fleet of 400 is accepted
// on 12 reports.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/fleet.h"

namespace gpucheck::fleet {

struct ReadOptions {
    std::string keys_folder;  ///< public keys (PEM) whose signatures are trusted; empty: none is checked
    std::string labels_file;  ///< CSV: first column the node's name or key, the others labels, the first line
                              ///< their names
    std::size_t max_report_bytes = std::size_t{8} << 20;
    std::size_t max_reports = 200'000;
};

/// One report, one signed envelope (DSSE, payloadType of gpucheck reports), one condensed report or one
/// summary document (all its reports) is added. An error is a sentence. `text` needs no padding. With a
/// folder of keys only a signature makes a report verified; without, what a condensed report says of itself
/// counts.
std::optional<std::string> add_document(Fleet& fleet, std::string_view text, const ReadOptions& options);

/// Files, folders (recursively: *.json *.jsonl *.report and their .gz .zst .xz), "-" for stdin. An error is
/// about the options or about a PATH that is not there; what is inside goes to `fleet.rejected`.
std::optional<std::string> read_paths(Fleet& fleet, const std::vector<std::string>& paths,
                                      const ReadOptions& options);

/// Puts what was added into the one order that does not depend on the order of adding, keeps a report that
/// was read twice once, and rejects reports that share an id and differ. read_paths does it itself; after
/// add_document the caller does.
void settle(Fleet& fleet);
/// The rows that settle adds to `rejected` for reports that share an id.
std::vector<Rejected> conflict_rows(const Fleet& fleet);

/// The report cut to what add_document reads, as one line of JSON: reading it again gives the same
/// NodeReport.
std::string condensed(const Fleet& fleet, const NodeReport& report);

}  // namespace gpucheck::fleet

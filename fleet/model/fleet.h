// Many reports, each cut down to what a decision over a fleet needs: 100,000 of them fit into memory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checks/model/verdict.h"
#include "fleet/model/vocabulary.h"

namespace gpucheck::fleet {

/// A measurement of a report ("bf16_tflops", "memory_read_gb_s"). float: seven digits, more than any
/// measurement has.
struct Value {
    Name metric = kNoName;
    float value = 0;
};

struct Gpu {
    Name bdf = kNoName;    ///< its slot: "0000:81:00.0"
    Name board = kNoName;  ///< board_key; empty: the report does not know the board
    std::string identity;  ///< serial, else UUID; empty: the report holds neither
    Verdict verdict = Verdict::unknown;
    Name firmware = kNoName;                ///< vbios_version
    std::vector<Value> values;              ///< sorted by the metric's text, each metric once
    Name mode = kNoName;                    ///< how it is cut: "CPX/NPS4", "MIG 7", "whole"; empty: not known
    float memory_gib = 0;                   ///< of the whole GPU; 0: not known
    std::uint8_t link_width = 0;            ///< lanes, under load where that was seen; 0: not known
    std::uint8_t link_generation = 0;       ///< PCIe, the best under load; 0: not known
    std::uint8_t link_generation_rest = 0;  ///< when nothing ran: a GPU that sleeps has a slow one
};

struct Problem {
    Name code = kNoName;
    Name check = kNoName;
    Verdict verdict = Verdict::unknown;  ///< warn, unknown or fail
    Name scope = kNoName;                ///< "guest", "host", "unknown"
    Name action = kNoName;
    Name subject = kNoName;  ///< a GPU's bdf, "host", a path
    int gpu = -1;            ///< index into gpus, where the subject is one of them
};

struct CheckState {
    Name check = kNoName;
    Verdict verdict = Verdict::unknown;
};

/// What a token costs on this node, one row of the report's cost[].
struct CostRow {
    Name model = kNoName;
    Name precision = kNoName;
    float concurrency = 0;
    float tokens_per_s = 0;
    float usd_per_m_output = 0;  ///< 0: not known
};

/// One report. Times are RFC 3339 in UTC as gpucheck writes them, so that they sort as text.
struct NodeReport {
    std::string
        node;  ///< what the operator calls it: hostname, else "provider/instance id", else "boot/<boot id>"
    std::string key;  ///< whose reports belong together: "provider/instance id" where both are known, else
                      ///< the node's name; "/" and "%" in a host name or a provider are "%2F" and "%25"
    std::string report_id;  ///< the same id twice is one report
    std::string created;
    std::string where;  ///< the file it was read from, and the line where it holds several; empty: no file
    std::string boot_id;
    Name provider = kNoName, instance_type = kNoName, region = kNoName, zone = kNoName;
    Name driver = kNoName;  ///< "nvidia 570.133.20", "amdgpu 6.12.12"; both where both are loaded
    Name kernel = kNoName, os = kNoName, tool_version = kNoName, profile = kNoName;
    std::vector<std::pair<Name, Name>>
        labels;  ///< what the operator adds (rack, image), sorted by the name's text
    Verdict verdict = Verdict::unknown;
    bool simulated = false,
         injected = false;  ///< a rehearsal: shown, never counted as evidence about hardware
    bool verified = false;  ///< its signature was checked against a key that the reader trusts
    int gpus_expected = -1, gpus_found = -1;  ///< -1: not known
    int gpus_bound = -1;                      ///< that a driver holds; -1: not known
    float usd_per_hour = 0;                   ///< whole instance; 0: not known
    std::vector<Gpu> gpus;
    std::vector<Problem> problems;
    std::vector<CheckState> checks;
    std::vector<CostRow> costs;
};

/// An input that is no report, and why. It never vanishes silently.
struct Rejected {
    std::string where;  ///< file, and line of a JSONL file
    std::string why;
    std::size_t inputs = 1;  ///< that it tells of: one row may stand for a million documents
    bool missing = false;    ///< no input at all, but an expected node that sent nothing
};

struct Fleet {
    Vocabulary names;
    std::vector<NodeReport> reports;
    std::vector<NodeReport> conflicting;  ///< of one report_id, with different content: no evidence, kept so
                                          ///< that a summary of summaries finds them again
    std::vector<Rejected> rejected;
    std::vector<std::string> remarks;  ///< on what was given beside reports: labels of nobody; no evidence
};

}  // namespace gpucheck::fleet

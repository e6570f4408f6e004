// The command line of gpucheck-fleet as data.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "fleet/collect/serve.h"
#include "fleet/model/read.h"

namespace gpucheck::fleet {

/// What a decision rests on; shared by all commands that make one.
struct JudgeOptions {
    ReadOptions read;
    std::string policy_file, baseline_file;  ///< empty: the default policy; no baseline
    std::string expected_file;      ///< names of nodes, of each of which a report must be there; empty: any
    bool knows_other_keys = false;  ///< of enrolled machines: serve
    std::string now;                ///< when it is judged; empty: the clock says
};

struct SummaryOptions {
    JudgeOptions judge;
    std::vector<std::string> paths;
    std::string format = "text";  ///< text, json, jsonl
    std::string output;           ///< file; empty: standard output
    std::size_t top = 20;
};

struct BaselineOptions {
    JudgeOptions judge;
    std::vector<std::string> paths;
    std::string output;
};

struct CompareOptions {
    JudgeOptions judge;
    std::string before, after;
    std::string format = "text", output;
    std::size_t top = 20;
};

struct HtmlOptions {
    JudgeOptions judge;
    std::vector<std::string> paths;
    std::string output;
};

/// The texts of files are read by the command.
struct ServeCommand {
    ServeOptions serve;
    JudgeOptions judge;  ///< for the page: policy, baseline
    std::size_t max_body_mib = 16;
};

/// Nothing more to do: help or version was printed (0), or the command line was wrong (64).
struct Stop {
    int status = 0;
};

using Command =
    std::variant<Stop, SummaryOptions, BaselineOptions, CompareOptions, HtmlOptions, ServeCommand>;

/// Prints help, version and errors itself.
Command parse(int argc, const char* const* argv);

}  // namespace gpucheck::fleet

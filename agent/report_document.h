// A report that comes from a file instead of from a run: what it is about is read from it, and what is no
// report is not delivered as one.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "agent/delivery.h"
#include "providers/disk/files.h"

namespace gpucheck {

/// A regular file, or all of standard input for "-"; at most 64 MiB.
std::variant<disk::Content, disk::Error> read_input(const std::string& path);

/// A JSON report, or a signed envelope around one. The error says what is missing.
std::variant<Outgoing, std::string> report_document(const std::string& text);
/// The same of a file or "-"; the error names it.
std::variant<Outgoing, std::string> read_report_document(const std::string& path);

}  // namespace gpucheck

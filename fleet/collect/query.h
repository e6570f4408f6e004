// The questions of the query API and its answers: a parameter that is misspelt must not silently ask
// something else.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fleet/collect/store.h"

namespace gpucheck::fleet::collect {

/// `node=gpu-017&since=2026-11-30T10:00:00Z&verdict=fail&limit=100&cursor=...`; the error is a sentence.
std::variant<Question, std::string> question_of(std::string_view query);
/// `limit` and `cursor` of GET /v1/nodes.
struct NodesQuestion {
    std::string after;
    std::int64_t limit = 100;
};
std::variant<NodesQuestion, std::string> nodes_question_of(std::string_view query);

/// {"reports": [...], "next": "..."}; "next" where there may be more.
std::string reports_json(const std::vector<Row>& rows, std::int64_t limit);
std::string nodes_json(const std::vector<Row>& rows, std::int64_t limit);

/// RFC 9457.
std::string problem_json(int status, std::string_view detail);

}  // namespace gpucheck::fleet::collect

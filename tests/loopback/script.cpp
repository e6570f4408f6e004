// Scripted answers, so that a test in any language can play a service:
//
//   {"answers": {"GET /path?query": ANSWER, "POST /reports": [ANSWER, ANSWER]}, "default": ANSWER or [..]}
//
// A list is answered in order and its last ANSWER repeats. Without a default the rest is 404. A key may be a
// whole URL ("GET http://169.254.169.254/x"): its host is ignored, so that a recorded machine's metadata.json
// is a list of answers as it is. ANSWER:
//
//   {"status": 200, "headers": {"Name": "value"}, "body": "text", "body_bytes": 1000, "keep_alive": true,
//    "requires": {"Name": "value"}, "manner": "drip", "bytes": 10, "pause_ms": 20}
//
// `body_bytes` appends that many "x". Without what it `requires` a request gets 401. Manners: see loopback.h.
// {"error": "timeout"} is silent, every other error a reset.
#include "tests/loopback/script.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "checks/json/json.h"
#include "checks/json/utf8.h"

namespace gpucheck::loopback {
namespace {

struct Scripted {
    Reply reply;
    std::vector<http::Header> wanted;
};

struct Series {
    std::vector<Scripted> answers;
    std::size_t next = 0;
};

const std::map<std::string, Manner> kManners = {{"proper", Manner::proper},
                                                {"drip", Manner::drip},
                                                {"endless", Manner::endless},
                                                {"length_high", Manner::length_high},
                                                {"length_junk", Manner::length_junk},
                                                {"length_twice", Manner::length_twice},
                                                {"reset", Manner::reset},
                                                {"silent", Manner::silent},
                                                {"close", Manner::close},
                                                {"bad_status", Manner::bad_status},
                                                {"bad_chunk", Manner::bad_chunk},
                                                {"headers", Manner::headers}};

std::vector<http::Header> headers_of(const Json& object, bool lower) {
    std::vector<http::Header> headers;
    for (const auto& [name, value] : object.items()) {
        std::string key = name;
        for (char& c : key) c = lower && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        headers.push_back({std::move(key), value.get<std::string>()});
    }
    return headers;
}

Scripted scripted(const Json& object) {
    Scripted one;
    Reply& reply = one.reply;
    reply.status = object.value("status", 200);
    if (object.contains("headers")) reply.headers = headers_of(object.at("headers"), false);
    if (object.contains("requires")) one.wanted = headers_of(object.at("requires"), true);
    reply.body =
        object.value("body", std::string()) + std::string(object.value("body_bytes", std::size_t{0}), 'x');
    reply.keep_alive = object.value("keep_alive", true);
    reply.bytes = object.value("bytes", std::uint64_t{0});
    reply.pause = std::chrono::milliseconds(object.value("pause_ms", 20));
    reply.manner = kManners.at(object.value("manner", std::string("proper")));
    if (object.contains("error"))
        reply.manner = object.at("error") == "timeout" ? Manner::silent : Manner::reset;
    return one;
}

Series series_of(const Json& value) {
    Series series;
    if (value.is_array()) {
        for (const Json& one : value) series.answers.push_back(scripted(one));
    } else {
        series.answers.push_back(scripted(value));
    }
    if (series.answers.empty()) series.answers.push_back({Reply{404, {}, {}}, {}});
    return series;
}

// "GET http://host/x" -> "GET /x"
std::string without_host(const std::string& key) {
    const std::size_t scheme = key.find("://");
    if (scheme == std::string::npos) return key;
    const std::size_t path = key.find('/', scheme + 3);
    return key.substr(0, key.find(' ') + 1) + (path == std::string::npos ? "/" : key.substr(path));
}

Reply next_of(Series& series, const Seen& seen) {
    const Scripted& one = series.answers[series.next];
    for (const http::Header& wanted : one.wanted) {
        if (seen.header(wanted.name) != wanted.value) return Reply{401, {}, {}};
    }
    if (series.next + 1 < series.answers.size()) ++series.next;
    return one.reply;
}

std::string base64(const std::string& bytes) {
    constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t j = 0; j < 3; ++j)
            group = (group << 8U) | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
        for (std::size_t j = 0; j < 4; ++j)
            out += i + j <= bytes.size() ? kDigits[(group >> (18U - 6U * j)) & 63U] : '=';
    }
    return out;
}

}  // namespace

std::variant<Handler, std::string> script(const std::string& text) {
    const auto parsed = parse_json(text);
    if (const auto* error = std::get_if<JsonError>(&parsed)) return error->what;
    auto answers = std::make_shared<std::map<std::string, Series>>();
    auto rest = std::make_shared<Series>();
    try {
        const Json& document = std::get<Json>(parsed);
        const Json listed = document.value("answers", Json::object());
        for (const auto& [key, value] : listed.items())
            answers->insert_or_assign(without_host(key), series_of(value));
        *rest = series_of(document.value("default", Json::array()));
    } catch (const std::exception& error) {
        return error.what();
    }
    return [answers, rest](const Seen& seen) {
        const auto found = answers->find(seen.method + " " + seen.target);
        return next_of(found != answers->end() ? found->second : *rest, seen);
    };
}

std::string line_of(const Seen& seen) {
    Json headers = Json::object();
    for (const http::Header& header : seen.headers) {
        const std::string before =
            headers.contains(header.name) ? headers[header.name].get<std::string>() + ", " : "";
        headers[header.name] = before + header.value;
    }
    Json line{{"method", seen.method},
              {"target", seen.target},
              {"connection", seen.connection},
              {"headers", headers}};
    if (is_utf8(seen.body)) {
        line["body"] = seen.body;
    } else {
        line["body_base64"] = base64(seen.body);
    }
    return dump_json(line, -1) + "\n";
}

}  // namespace gpucheck::loopback

// The parts of model_json.h that need no template.
#include "checks/json/model_json.h"

#include "checks/json/utf8.h"

namespace gpucheck {
namespace model_json {
namespace {

std::string hex_of(const std::string& bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    hex.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        hex += kDigits[byte >> 4];
        hex += kDigits[byte & 15];
    }
    return hex;
}

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

bool bytes_of(const std::string& hex, std::string& bytes) {
    if (hex.size() % 2 != 0) return false;
    bytes.clear();
    bytes.reserve(hex.size() / 2);
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        const int high = digit_of(hex[i]), low = digit_of(hex[i + 1]);
        if (high < 0 || low < 0) return false;
        bytes += static_cast<char>(high * 16 + low);
    }
    return true;
}

}  // namespace

bool fail(std::string& error, std::string_view what) {
    error = ": ";
    error += what;
    return false;
}

bool fail_below(std::string& error, std::string_view step) {
    const bool leaf = error.starts_with(":") || error.starts_with("[");
    error.insert(0, leaf ? std::string(step) : std::string(step) + '.');
    return false;
}

bool fail_at(std::string& error, std::size_t index) {
    return fail_below(error, '[' + std::to_string(index) + ']');
}

Json write_text(const std::string& text) {
    if (is_utf8(text)) return Json(text);
    Json json = Json::object();
    json.emplace("hex", hex_of(text));
    return json;
}

bool read_text(const Json& json, std::string& text, std::string& error) {
    if (json.is_string()) {
        text = json.get_ref<const std::string&>();
        return true;
    }
    if (!json.is_object()) return fail(error, "expected a string");
    const auto hex = json.find("hex");
    if (hex == json.end() || !hex->is_string()) return fail(error, "expected a string");
    if (!bytes_of(hex->get_ref<const std::string&>(), text)) return fail(error, "malformed hex bytes");
    return true;
}

Json write_double(double number) {
    if (std::isnan(number)) return Json("NaN");
    if (std::isinf(number)) return Json(number > 0 ? "Infinity" : "-Infinity");
    return Json(number);
}

bool read_double(const Json& json, double& number, std::string& error) {
    if (json.is_number()) {
        number = json.get<double>();
        return true;
    }
    const std::string* name = json.get_ptr<const std::string*>();
    if (name == nullptr) return fail(error, "expected a number");
    if (*name == "NaN") {
        number = std::numeric_limits<double>::quiet_NaN();
    } else if (*name == "Infinity" || *name == "-Infinity") {
        number = std::numeric_limits<double>::infinity() * (name->front() == '-' ? -1 : 1);
    } else {
        return fail(error, "expected a number");
    }
    return true;
}

}  // namespace model_json

template Json to_json<Snapshot>(const Snapshot&);
template bool from_json<Snapshot>(const Json&, Snapshot&, std::string&);

}  // namespace gpucheck

// The parts of model_json.h that need no template.
#include "checks/json/model_json.h"

#include <cmath>
#include <limits>

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

Json write_double(double number) {
    if (std::isnan(number)) return Json("NaN");
    if (std::isinf(number)) return Json(number > 0 ? "Infinity" : "-Infinity");
    return Json(number);
}

Json write_unsigned(std::uint64_t number) {
    return Json(number);
}
Json write_signed(std::int64_t number) {
    return Json(number);
}
Json write_bool(bool value) {
    return Json(value);
}
Json write_name(std::string_view name) {
    return Json(std::string(name));
}
Json empty_object() {
    return Json::object();
}
Json empty_array() {
    return Json::array();
}
void add(Json& object, std::string_view name, Json value) {
    object.emplace(std::string(name), std::move(value));
}
void append(Json& array, Json value) {
    array.push_back(std::move(value));
}

Json write_known(Json value, const std::string& source) {
    Json json = Json::object();
    json.emplace("value", std::move(value));
    json.emplace("source", write_text(source));
    return json;
}

Json write_missing(const Missing& missing) {
    Json json = Json::object();
    json.emplace("missing", write_text(missing.why));
    json.emplace("source", write_text(missing.source));
    return json;
}

bool expect_object(const Json& json, std::string& error) {
    return json.is_object() || fail(error, "expected an object");
}
bool expect_array(const Json& json, std::string& error) {
    return json.is_array() || fail(error, "expected an array");
}
bool is_null(const Json& json) {
    return json.is_null();
}
std::size_t size(const Json& array) {
    return array.size();
}
const Json& element(const Json& array, std::size_t index) {
    return array[index];
}

const Json* member(const Json& object, std::string_view name) {
    const auto found = object.find(std::string(name));
    return found == object.end() ? nullptr : &*found;
}

bool read_bool(const Json& json, bool& value, std::string& error) {
    if (!json.is_boolean()) return fail(error, "expected true or false");
    value = json.get<bool>();
    return true;
}

bool read_unsigned(const Json& json, std::uint64_t& number, std::uint64_t max, std::string& error) {
    if (!json.is_number_integer()) return fail(error, "expected an integer");
    if (!json.is_number_unsigned() && json.get<std::int64_t>() < 0) return fail(error, "number out of range");
    number = json.get<std::uint64_t>();
    return number <= max || fail(error, "number out of range");
}

bool read_signed(const Json& json, std::int64_t& number, std::int64_t min, std::int64_t max,
                 std::string& error) {
    if (!json.is_number_integer()) return fail(error, "expected an integer");
    if (json.is_number_unsigned() && !std::in_range<std::int64_t>(json.get<std::uint64_t>())) {
        return fail(error, "number out of range");
    }
    number = json.get<std::int64_t>();
    return (number >= min && number <= max) || fail(error, "number out of range");
}

bool read_name(const Json& json, std::string& name, std::string& error) {
    return json.is_string() ? read_text(json, name, error) : fail(error, "expected a name");
}

bool read_bdf(const Json& json, Bdf& value, std::string& error) {
    std::string text;
    if (!read_text(json, text, error)) return false;
    const std::optional<Bdf> parsed = Bdf::parse(text);
    if (!parsed) return fail(error, "expected a PCI address");
    value = *parsed;
    return true;
}

bool read_fact_parts(const Json& json, const Json*& value, Missing& missing, std::string& error) {
    if (!expect_object(json, error)) return false;
    value = member(json, "value");
    const Json* why = member(json, "missing");
    const Json* source = member(json, "source");
    if ((value == nullptr) == (why == nullptr)) return fail(error, "expected either value or missing");
    if (source != nullptr && !read_text(*source, missing.source, error)) return fail_below(error, "source");
    if (why != nullptr && !read_text(*why, missing.why, error)) return fail_below(error, "missing");
    return true;
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

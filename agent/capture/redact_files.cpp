// Files with rules of their own: accounts, identity files, PCI config space, processes' command lines and
// environments; see redact.h.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "agent/capture/patterns.h"
#include "agent/capture/redact.h"
#include "agent/host/environment.h"
#include "checks/json/json.h"

namespace gpucheck::capture {
namespace {

constexpr unsigned kFirstPerson =
    1000;  // UID_MIN and GID_MIN of login.defs(5); accounts below belong to the system
constexpr unsigned kNobody = 65534;

std::string_view name_of_file(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

// The files whose whole content is one exemplar's serial.
bool holds_a_serial(std::string_view path) {
    constexpr std::array<std::string_view, 9> kNames{"product_serial", "board_serial", "chassis_serial",
                                                     "serial_number",  "serial",       "wwid",
                                                     "nguid",          "eui",          "unique_id"};
    return path.starts_with("/sys/") &&
           std::find(kNames.begin(), kNames.end(), name_of_file(path)) != kNames.end();
}

// Asset tags by which clouds are recognised (cloud-init's ds-identify); any other may be the owner's
// inventory number.
bool is_known_asset_tag(std::string_view tag) {
    constexpr std::array<std::string_view, 4> kTags{"OracleCloud.com", "7783-7084-3265-9085-8269-3286-77",
                                                    "Amazon EC2", "OpenTelekomCloud"};
    return std::find(kTags.begin(), kTags.end(), tag) != kTags.end() ||
           tag.find_first_of("0123456789") == std::string_view::npos;
}

std::vector<std::string_view> fields_of(std::string_view line, char separator) {
    std::vector<std::string_view> fields;
    for (;;) {
        const std::size_t end = line.find(separator);
        fields.push_back(line.substr(0, end));
        if (end == std::string_view::npos) return fields;
        line.remove_prefix(end + 1);
    }
}

std::string joined(const std::vector<std::string>& fields, char separator) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i)
        line += (i == 0 ? "" : std::string(1, separator)) + fields[i];
    return line;
}

bool is_person(std::string_view id) {
    unsigned number = 0;
    const auto parsed = std::from_chars(id.data(), id.data() + id.size(), number);
    return parsed.ec != std::errc{} || (number >= kFirstPerson && number != kNobody);
}

std::string locked(std::string_view password) {
    return password.size() > 1 ? "x" : std::string(password);
}

template <class Line>
std::string by_line(std::string_view content, Line line) {
    std::string result;
    while (!content.empty()) {
        const std::size_t end = content.find('\n');
        result += line(content.substr(0, end));
        if (end == std::string_view::npos) break;
        result += '\n';
        content.remove_prefix(end + 1);
    }
    return result;
}

bool is_secret_key(std::string_view key) {
    const std::string name = lower(key);
    constexpr std::array<std::string_view, 12> kParts{
        "token",   "secret",   "password",    "passwd",    "credential",  "private_key",
        "api_key", "auth_key", "public_keys", "user_data", "vendor_data", "user-data"};
    return std::any_of(kParts.begin(), kParts.end(),
                       [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

// Values of secret keys, also in documents that are strings of other documents (bodies of replies in
// metadata.json).
void empty_secrets(Json& value, int depth = 0) {
    constexpr int kMaxNested = 4;
    for (auto& [key, item] : value.items()) {
        // A request to a metadata service is no label: what was asked may be a token, the entry is none.
        const bool request = key.starts_with("GET ") || key.starts_with("PUT ");
        if (value.is_object() && !request && is_secret_key(key) && !item.is_null() && !item.is_boolean()) {
            item = "REDACTED";
        } else if (item.is_structured()) {
            empty_secrets(item, depth);
        } else if (item.is_string() && depth < kMaxNested) {
            const auto& text = item.get_ref<const std::string&>();
            if (!text.starts_with('{') && !text.starts_with('[')) continue;
            auto parsed = parse_json(text);
            Json* nested = std::get_if<Json>(&parsed);
            if (nested == nullptr || !nested->is_structured()) continue;
            const Json before = *nested;
            empty_secrets(*nested, depth + 1);
            if (*nested != before) item = dump_json(*nested, -1);
        }
    }
}

// What a reader takes from cloud-init's instance-data.json; the rest is user data, keys and addresses.
Json kept_of_instance_data(const Json& document) {
    const auto object = [](const Json& from, const char* key) {
        const auto found = from.is_object() ? from.find(key) : from.end();
        return from.is_object() && found != from.end() && found->is_object() ? *found : Json::object();
    };
    const auto take = [](const Json& from, std::initializer_list<const char*> keys) {
        Json kept = Json::object();
        for (const char* key : keys) {
            const auto found = from.find(key);
            if (found != from.end() && found->is_primitive()) kept[key] = *found;
        }
        return kept;
    };
    Json result = Json::object();
    result["v1"] = take(object(document, "v1"),
                        {"cloud_name", "platform", "instance_id", "region", "availability_zone"});
    const Json ds = object(document, "ds"), meta = object(ds, "meta_data");
    Json kept = take(meta, {"instance_type", "instance-type"});
    if (const Json compute = take(object(object(meta, "imds"), "compute"), {"vmSize"}); !compute.empty())
        kept["imds"]["compute"] = compute;
    result["ds"]["meta_data"] = std::move(kept);
    const Json identity = object(object(object(ds, "dynamic"), "instance_identity"), "document");
    if (const Json type = take(identity, {"instanceType"}); !type.empty())
        result["ds"]["dynamic"]["instance_identity"]["document"] = type;
    return result;
}

}  // namespace

void Redactor::learn_files(const host::Sysroot& source) {
    for (const char* path : {"/etc/machine-id", "/var/lib/dbus/machine-id"}) {
        const Fact<std::string> id = source.read_line(path);
        if (id.known() && id->size() == 32) learn_word(*id, pseudonyms_.of(Identity::machine_id, *id), true);
    }
    for (const char* name : {"product_serial", "board_serial", "chassis_serial"}) {
        const std::string path = std::string("/sys/class/dmi/id/") + name;
        if (const Fact<std::string> serial = source.read_line(path); serial.known())
            learn_serial(path, *serial);
    }
    if (const Fact<std::string> hosts = source.read("/etc/hosts", host::kLargeFile); hosts.known()) {
        for (std::string_view line : host::lines_of(*hosts)) {
            line = line.substr(0, line.find('#'));
            std::size_t start = line.find_first_of(" \t");  // behind the address
            while (start != std::string_view::npos &&
                   (start = line.find_first_not_of(" \t\r", start)) != std::string_view::npos) {
                const std::size_t end = line.find_first_of(" \t\r", start);
                learn_host(line.substr(start, end - start));
                start = end;
            }
        }
    }
    const Fact<std::string> accounts = source.read("/etc/passwd", host::kLargeFile);
    if (!accounts.known()) return;
    for (const std::string_view line : host::lines_of(*accounts)) {
        const std::vector<std::string_view> fields = fields_of(line, ':');
        if (fields.size() < 3 || !is_person(fields[2]) || is_everyday_name(fields[0])) continue;
        // A user's name in the middle of a word is no match, yet "alex" is too plain for the kernel's own
        // files.
        learn_word(fields[0], pseudonyms_.of(Identity::user, fields[0]), false);
    }
}

std::string Redactor::host_name(std::string_view name) {
    const std::string_view first = name.substr(0, name.find('.'));
    if (first.empty() || is_everyday_name(first) ||
        name.find_first_not_of("0123456789.") == std::string_view::npos) {
        return std::string(name);
    }
    return pseudonyms_.of(Identity::host, first) + (first == name ? "" : ".example.invalid");
}

// hosts(5), and files that hold a host name alone: whatever is no address and no comment is a name.
std::string Redactor::host_lines(std::string_view content) {
    return by_line(content, [&](std::string_view line) {
        const std::size_t comment = std::min(line.size(), line.find('#'));
        std::string result;
        for (std::size_t i = 0; i < comment;) {
            const std::size_t end = std::min(comment, line.find_first_of(" \t\r", i));
            const std::string word = text(line.substr(i, end - i), Vocabulary::people);
            const bool address = word.find(':') != std::string::npos;
            const bool replaced = word != line.substr(i, end - i);
            result += address || replaced ? word : host_name(word);
            if (end < comment) result += line[end];
            i = end + 1;
        }
        return result + text(line.substr(comment), Vocabulary::people);
    });
}

// passwd(5) and group(5): people become user1, user2; ids, system accounts and membership by number stay.
std::string Redactor::account_lines(std::string_view content, bool groups) {
    const auto person = [&](std::string_view name) {
        return is_everyday_name(name) || name.empty() ? std::string(name)
                                                      : pseudonyms_.of(Identity::user, name);
    };
    return by_line(content, [&](std::string_view line) {
        const std::vector<std::string_view> fields = fields_of(line, ':');
        if (fields.size() < (groups ? 4U : 7U)) return std::string();  // not an account, so nobody reads it
        std::vector<std::string> kept(fields.begin(), fields.end());
        const bool is_private = is_person(fields[2]);
        if (is_private) kept[0] = person(fields[0]);
        kept[1] = locked(fields[1]);
        if (groups) {
            std::vector<std::string> members;
            for (const std::string_view member : fields_of(fields[3], ',')) {
                const bool known = words_.contains(lower(member)) || (is_private && member == fields[0]);
                members.push_back(known ? person(member) : std::string(member));
            }
            kept[3] = joined(members, ',');
        } else if (is_private) {
            kept[4].clear();
            kept[5] = text(fields[5], Vocabulary::people);
        }
        return joined(kept, ':');
    });
}

// "unique_id 4376754343743654429" in a KFD node's properties.
std::string Redactor::hardware_ids(std::string_view content) {
    return by_line(content, [&](std::string_view line) {
        for (const std::string_view key : {std::string_view("unique_id "), std::string_view("hive_id ")}) {
            std::uint64_t id = 0;
            if (!line.starts_with(key)) continue;
            const auto parsed = std::from_chars(line.data() + key.size(), line.data() + line.size(), id);
            if (parsed.ec == std::errc{})
                return std::string(key) + std::to_string(pseudonyms_.of_hardware_id(id));
        }
        return std::string(line);
    });
}

std::optional<std::string> Redactor::file(std::string_view path, const std::string& content) {
    const std::string_view name = name_of_file(path);
    const bool sysfs = path.starts_with("/sys/"), proc = path.starts_with("/proc/");
    if (sysfs && name == "config") return without_device_serial(content);
    if (proc && name == "environ") return environment_block(content);
    if (proc && name == "cmdline" && path != "/proc/cmdline")
        return text(command_line(content), Vocabulary::people);
    if (content.find('\0') != std::string::npos && !is_known_binary(path)) return std::nullopt;
    if (path == "/etc/hosts" || path == "/etc/hostname" || path == "/proc/sys/kernel/hostname")
        return host_lines(content);
    if (path == "/etc/passwd" || path == "/etc/group") return account_lines(content, path == "/etc/group");
    const std::string_view value = host::trim(content), end = std::string_view(content).substr(value.size());
    const auto whole = [&](const std::string& replacement) { return replacement + std::string(end); };
    if (sysfs && (name == "unique_id" || name == "xgmi_hive_id" || name == "xgmi_device_id")) {
        std::uint64_t id = 0;
        const bool prefixed = value.starts_with("0x");
        const std::string_view digits = value.substr(prefixed ? 2 : 0);
        const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), id,
                                            name == "unique_id" || prefixed ? 16 : 10);
        if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size()) return content;
        if (id == 0) return content;
        const std::uint64_t invented = pseudonyms_.of_hardware_id(id);
        if (name != "unique_id" && !prefixed) return whole(std::to_string(invented));
        std::array<char, 16> hex{};
        const auto printed = std::to_chars(hex.data(), hex.data() + hex.size(), invented, 16);
        return whole((prefixed ? "0x" : "") + std::string(hex.data(), printed.ptr));
    }
    if (holds_a_serial(path)) return value.empty() ? content : whole(pseudonyms_.of(Identity::serial, value));
    if (sysfs && name == "chassis_asset_tag" && !is_known_asset_tag(value))
        return whole(pseudonyms_.of(Identity::serial, value));
    if (sysfs && (name == "node_guid" || name == "sys_image_guid") && guid_at(value, 0) == value.size()) {
        return whole(pseudonyms_.of(Identity::guid, value));
    }
    if (path.ends_with("/machine-id") && value.size() == 32)
        return whole(pseudonyms_.of(Identity::machine_id, value));
    if (sysfs && name == "properties") return hardware_ids(text(content, Vocabulary::machine));
    if (path.ends_with("/instance-data.json")) {
        const auto parsed = parse_json(content);
        const Json* document = std::get_if<Json>(&parsed);
        return json(dump_json(document != nullptr ? kept_of_instance_data(*document) : Json::object()) +
                    "\n");
    }
    if (value.starts_with("{") || value.starts_with("[")) return json(content);
    return text(content, vocabulary_of(path));
}

std::string Redactor::json(std::string_view content) {
    auto parsed = parse_json(content);
    Json* document = std::get_if<Json>(&parsed);
    if (document == nullptr || !document->is_structured()) return text(content, Vocabulary::people);
    const Json before = *document;
    empty_secrets(*document);
    if (*document == before) return text(content, Vocabulary::people);
    return text(dump_json(*document) + "\n", Vocabulary::people);
}

}  // namespace gpucheck::capture

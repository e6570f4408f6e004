// Chooses what of the environment may be seen; see environment.h.
#include "agent/host/environment.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace gpucheck::host {
namespace {

constexpr std::array<std::string_view, 10> kPrefixes{"CUDA_", "NVIDIA_", "HIP_", "HSA_",  "ROCR_",
                                                     "ROCM_", "GPU_",    "AMD_", "NCCL_", "RCCL_"};
constexpr std::array<std::string_view, 17> kNames{"LD_LIBRARY_PATH",
                                                  "LD_PRELOAD",
                                                  "NSIGHT_CUDA_DEBUGGER",
                                                  "COMPUTE_PROFILE",
                                                  "OPENCL_PROFILE",
                                                  "http_proxy",
                                                  "https_proxy",
                                                  "no_proxy",
                                                  "HTTP_PROXY",
                                                  "HTTPS_PROXY",
                                                  "NO_PROXY",
                                                  "container",
                                                  "KUBERNETES_SERVICE_HOST",
                                                  "RUNPOD_POD_ID",
                                                  "RUNPOD_GPU_COUNT",
                                                  "APPTAINER_CONTAINER",
                                                  "SINGULARITY_CONTAINER"};
constexpr std::array<std::string_view, 8> kSecrets{"TOKEN",  "KEY",        "SECRET",     "PASSWORD",
                                                   "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTH"};

std::string upper(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return result;
}

bool is_proxy(std::string_view name) {
    const std::string all = upper(name);
    return all == "HTTP_PROXY" || all == "HTTPS_PROXY";
}

// RFC 3339 UTC with whole seconds or a fraction: it is compared as text.
bool is_utc_time(std::string_view text) {
    constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
    if (text.size() < kShape.size() + 1 || text.size() > 40 || text.back() != 'Z') return false;
    for (std::size_t i = 0; i < kShape.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        if (kShape[i] == 'd' ? !digit : text[i] != kShape[i]) return false;
    }
    const std::string_view fraction = text.substr(kShape.size(), text.size() - kShape.size() - 1);
    if (fraction.empty()) return true;
    return fraction.front() == '.' && fraction.size() > 1 &&
           fraction.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

Fact<bool> read_user_namespace(const Sysroot& root) {
    const Fact<std::string> line = root.read_line("/proc/self/uid_map");
    if (!line.known()) return line.missing();
    std::array<std::uint64_t, 3> numbers{};  // first id inside, first id outside, length: user_namespaces(7)
    std::string_view rest = *line;
    for (std::uint64_t& number : numbers) {
        rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(" \t")));
        const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), number);
        if (parsed.ec != std::errc{})
            return Missing{line.source(), "malformed: '" + line->substr(0, 40) + "'"};
        rest.remove_prefix(static_cast<std::size_t>(parsed.ptr - rest.data()));
    }
    if (!rest.empty()) return Missing{line.source(), "malformed: '" + line->substr(0, 40) + "'"};
    constexpr std::array<std::uint64_t, 3> kWholeMachine{0, 0, 4294967295ULL};
    return Fact<bool>(numbers != kWholeMachine, line.source());
}

}  // namespace

bool is_relevant_variable(std::string_view name) {
    const bool listed = std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
                        std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                    [&](std::string_view prefix) { return name.starts_with(prefix); });
    if (!listed || name.size() > 128 || !is_text(name)) return false;
    const std::string all = upper(name);
    return std::none_of(kSecrets.begin(), kSecrets.end(),
                        [&](std::string_view secret) { return all.find(secret) != std::string::npos; });
}

std::string without_credentials(std::string_view text) {
    std::string result;
    for (;;) {
        const std::size_t scheme = text.find("://");
        if (scheme == std::string_view::npos) break;
        result += text.substr(0, scheme + 3);
        text.remove_prefix(scheme + 3);
        // To the last @ of the word and not of the authority: passwords hold raw / , and @ in practice.
        const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n\"'<>"));
        const std::size_t at = word.rfind('@');
        if (at != std::string_view::npos) text.remove_prefix(at + 1);
    }
    return result += text;
}

std::string presentable_value(std::string_view name, std::string_view value) {
    constexpr std::size_t kMaxBytes = 4096;
    if (!is_text(value)) return "(not text)";
    std::string shown;
    if (is_proxy(name)) {  // also without a scheme, and whatever the password holds
        const std::size_t scheme = value.find("://"), at = value.rfind('@');
        if (at != std::string_view::npos) {
            if (scheme != std::string_view::npos && scheme < at) shown = value.substr(0, scheme + 3);
            value.remove_prefix(at + 1);
        }
        shown += value;
    } else {
        shown = without_credentials(value);
    }
    if (shown.size() <= kMaxBytes) return shown;
    std::size_t end = kMaxBytes;
    while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xc0U) == 0x80U)
        --end;  // not within a UTF-8 sequence
    shown.resize(end);
    return shown;
}

Process read_process(const Sysroot& root) {
    const RecordedProcess& given = root.process();
    Process process;
    process.uid = given.uid;
    process.gids = given.gids;
    process.user_namespace = read_user_namespace(root);
    for (const auto& [name, value] : given.env) {
        if (is_relevant_variable(name)) process.env.push_back({name, presentable_value(name, value)});
    }
    process.now = given.now;
    const Missing unrecorded{"process.json", "not captured"};
    if (!process.uid.known()) process.uid = unrecorded;
    if (!process.gids.known()) process.gids = unrecorded;
    if (!process.now.known()) process.now = unrecorded;
    if (process.now.known() && !is_utc_time(*process.now))
        process.now = Missing{given.now.source(), "malformed: now"};
    return process;
}

}  // namespace gpucheck::host

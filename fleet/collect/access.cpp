// Access; see access.h.
#include "fleet/collect/access.h"

#include "providers/sign/base64.h"

namespace gpucheck::fleet::collect {
namespace {

bool is_scheme(std::string_view value, std::string_view scheme) {
    if (value.size() <= scheme.size() || value[scheme.size()] != ' ') return false;
    for (std::size_t i = 0; i < scheme.size(); ++i)
        if ((value[i] | 0x20) != scheme[i]) return false;
    return true;
}

// A machine sends Bearer; a browser can only be made to ask for a password (RFC 7617), and that is the token.
std::string presented(const HttpHead& head) {
    const std::string_view value = head.header("authorization");
    if (is_scheme(value, "bearer")) return std::string(value.substr(7));
    if (!is_scheme(value, "basic")) return {};
    const auto pair = sign::base64_decode(value.substr(6));
    const std::size_t colon = pair ? pair->find(':') : std::string::npos;
    return colon == std::string::npos ? std::string() : pair->substr(colon + 1);
}

// ":8126" or nothing.
bool is_port(std::string_view text) {
    if (text.empty()) return true;
    constexpr std::size_t kLongest = 6;
    if (text.front() != ':' || text.size() < 2 || text.size() > kLongest) return false;
    return text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

}  // namespace

// A page that somebody opens elsewhere must not read this one by a name that leads to 127.0.0.1 (DNS
// rebinding): without a token only names answer that nobody can point here.
bool Access::is_local_name(std::string_view host) {
    constexpr std::string_view kLocalhost = "localhost";
    std::string name(host.substr(0, kLocalhost.size()));
    for (char& c : name)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    if (name == kLocalhost) return is_port(host.substr(kLocalhost.size()));
    for (const std::string_view address : {std::string_view("127.0.0.1"), std::string_view("[::1]")})
        if (host.starts_with(address)) return is_port(host.substr(address.size()));
    return false;
}

Access::Made Access::made() const {
    auto made = std::make_shared<AccessFiles>();
    if (!tokens_file_.empty()) {
        auto credentials = read_credentials(tokens_file_);
        if (auto* why = std::get_if<std::string>(&credentials)) return std::move(*why);
        made->credentials = std::move(*std::get_if<Credentials>(&credentials));
    }
    auto keys = read_keys(keys_folder_);
    if (auto* why = std::get_if<std::string>(&keys)) return std::move(*why);
    made->keys = std::move(*std::get_if<TrustedKeys>(&keys));
    auto keyed = std::make_shared<KeyedMachines>();
    for (const auto& [id, key] : made->keys)
        if (!key.machine.empty()) keyed->insert(key.machine);
    made->keyed = std::move(keyed);
    return std::shared_ptr<const AccessFiles>(std::move(made));
}

void Access::use(std::shared_ptr<const AccessFiles> files) {
    const std::lock_guard lock(lock_);
    files_ = std::move(files);
}

std::shared_ptr<const AccessFiles> Access::files() const {
    const std::lock_guard lock(lock_);
    return files_;
}

std::variant<const Token*, int> Access::reporter(const AccessFiles& files, const HttpHead& head) const {
    if (open_ && !files.credentials.anyone_may_report_by_token()) return nullptr;
    const std::string given = presented(head);
    const Token* token = given.empty() ? nullptr : files.credentials.find(given);
    if (token == nullptr) return 401;
    if (!token->may_report) return 403;
    return token;
}

std::variant<const Token*, int> Access::reader(const AccessFiles& files, const HttpHead& head) const {
    const bool by_token = files.credentials.anyone_may_read_by_token();
    if (!by_token && head.peer_is_loopback && is_local_name(head.header("host"))) return nullptr;
    const std::string given = presented(head);
    const Token* token = given.empty() ? nullptr : files.credentials.find(given);
    if (token == nullptr) return 401;
    if (!token->may_read) return 403;
    return token;
}

}  // namespace gpucheck::fleet::collect

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

// A page that somebody opens elsewhere must not read this one by a name that leads to 127.0.0.1 (DNS
// rebinding): without a token only names answer that nobody can point here.
bool is_local_name(std::string_view host) {
    if (host.starts_with("[::1]")) return true;
    const std::string_view name = host.substr(0, host.find(':'));
    return name == "localhost" || name == "127.0.0.1";
}

}  // namespace

std::optional<std::string> Access::read() {
    auto made = std::make_shared<AccessFiles>();
    if (!tokens_file_.empty()) {
        auto credentials = read_credentials(tokens_file_);
        if (auto* why = std::get_if<std::string>(&credentials)) return std::move(*why);
        made->credentials = std::move(*std::get_if<Credentials>(&credentials));
    }
    auto keys = read_keys(keys_folder_);
    if (auto* why = std::get_if<std::string>(&keys)) return std::move(*why);
    made->keys = std::move(*std::get_if<TrustedKeys>(&keys));
    const std::lock_guard lock(lock_);
    files_ = std::move(made);
    return std::nullopt;
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

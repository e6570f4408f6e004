// `gpucheck fleet serve`: puts the receiver together and takes it down in the order that loses nothing.
#include "fleet/collect/serve.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <thread>

#include "fleet/collect/access.h"
#include "fleet/collect/database.h"
#include "fleet/collect/http.h"
#include "fleet/collect/live.h"
#include "fleet/collect/notify.h"
#include "fleet/collect/routes.h"
#include "fleet/collect/writer.h"
#include "providers/disk/files.h"

namespace gpucheck::fleet {
namespace {

using namespace collect;  // NOLINT: this is the composition of all of it

constexpr int kUsage = 64, kNoStore = 70;
constexpr std::chrono::seconds kLastWords{10};  // what systemd and Kubernetes give is longer

// One line of standard error; what a stranger sent cannot move the terminal's cursor or forge a line.
void complain(const std::string& sentence) {
    std::string line = "gpucheck-fleet: ";
    for (const char c : sentence) line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    line += '\n';
    static std::mutex lock;
    const std::lock_guard guard(lock);
    std::fwrite(line.data(), 1, line.size(), stderr);
}

int unusable(const std::string& sentence) {
    complain(sentence);
    return kUsage;
}

struct Address {
    std::string ip;
    std::uint16_t port = 0;
    bool loopback = false;
};

std::optional<Address> address_of(const std::string& listen) {
    const std::size_t colon = listen.rfind(':');
    if (colon == std::string::npos) return std::nullopt;
    Address address;
    address.ip = listen.substr(0, colon);
    if (address.ip.starts_with('[') && address.ip.ends_with(']'))
        address.ip = address.ip.substr(1, address.ip.size() - 2);
    else if (address.ip.find(':') != std::string::npos)
        return std::nullopt;
    const char* const end = listen.data() + listen.size();
    const auto [at, error] = std::from_chars(listen.data() + colon + 1, end, address.port);
    if (error != std::errc() || at != end) return std::nullopt;
    address.loopback = address.ip == "::1" || address.ip.starts_with("127.");
    return address;
}

std::variant<std::string, int> password_of(const ServeOptions& options) {
    if (const auto why = fault_of_database_name(options.database)) return unusable(*why);
    if (!is_postgres(options.database)) {
        if (!options.database_password_file.empty())
            return unusable("a database password without a postgresql:// database");
        return std::string();
    }
    if (options.database_password_file.empty()) return std::string();
    auto file = disk::read_file(options.database_password_file, 4096);
    if (const auto* why = std::get_if<disk::Error>(&file)) return unusable(why->what);
    auto& content = *std::get_if<disk::Content>(&file);
    if (disk::readable_by_others(content.mode))
        return unusable(options.database_password_file + ": others may read it (chmod 600)");
    std::string password = content.text.substr(0, content.text.find_first_of("\r\n"));
    if (password.empty()) return unusable(options.database_password_file + ": no password on its first line");
    return password;
}

// The rule that keeps a fleet's serial numbers off the internet.
std::optional<std::string> exposed(const ServeOptions& options, const Address& address,
                                   const AccessFiles& files) {
    if (address.loopback || options.insecure) return std::nullopt;
    if (options.tls_certificate.empty())
        return "listening on " + address.ip +
               " needs a TLS certificate and key, or to be told that it is insecure";
    if (!files.credentials.anyone_may_report_by_token())
        return "listening on " + address.ip +
               " needs a tokens file with a token that may report, or to be told that it is insecure";
    return std::nullopt;
}

std::size_t descriptors_for(std::size_t connections) {
    rlimit limit{};
    constexpr std::size_t kOthers = 64;  // the databases, the log, the listening socket
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return connections;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const auto most = static_cast<std::size_t>(limit.rlim_cur);
    return most > 2 * kOthers ? std::min(connections, most - kOthers) : kOthers;
}

// All or nothing: everything is read and judged before anything of it is in force.
std::optional<std::string> reload(const ServeOptions& options, const Address& address, Access& access,
                                  HttpServer& server) {
    auto made = access.made();
    if (auto* why = std::get_if<std::string>(&made)) return std::move(*why);
    auto& files = *std::get_if<std::shared_ptr<const AccessFiles>>(&made);
    if (auto why = exposed(options, address, *files)) return why;
    HttpServer::TlsReady ready = [] {};
    if (!options.tls_certificate.empty()) {
        auto tls = server.read_tls(options.tls_certificate, options.tls_key);
        if (auto* why = std::get_if<std::string>(&tls)) return std::move(*why);
        ready = std::move(*std::get_if<HttpServer::TlsReady>(&tls));
    }
    access.use(std::move(files));
    ready();
    return std::nullopt;
}

std::int64_t unix_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

void forget_old(const ServeOptions& options, Writer& writer) {
    constexpr double kMsPerDay = 86'400'000;
    if (options.retention_days > 0)
        writer.forget_before(unix_ms() - static_cast<std::int64_t>(options.retention_days * kMsPerDay));
}

// A store that went away while nobody reports is told, too.
void look_at(Store& store) {
    const auto looked = store.report(std::string());
    if (const auto* why = std::get_if<SqlError>(&looked)) complain("the store: " + why->what);
}

// Until SIGTERM or SIGINT.
void wait_for_the_end(const sigset_t& signals, const ServeOptions& options, const Address& address,
                      Access& access, HttpServer& server, Store& store, Writer& writer) {
    constexpr timespec kLook{60, 0};
    for (;;) {
        forget_old(options, writer);
        look_at(store);
        const int signal = ::sigtimedwait(&signals, nullptr, &kLook);
        if (signal == SIGTERM || signal == SIGINT) return;
        if (signal != SIGHUP) continue;
        const auto why = reload(options, address, access, server);
        complain(why ? "what was read before stays in force: " + *why
                     : "read the tokens, keys and certificate again");
    }
}

int run(const ServeOptions& options, const Address& address, Access& access, Store& store,
        const sigset_t& signals) {
    Writer writer(store, complain);
    LiveOptions live_options{options.policy, options.baseline, options.page_every_s, {}};
    live_options.read.max_report_bytes = options.max_report_bytes;
    Live live(store, std::move(live_options), complain);
    Routes routes(store, writer, live, access,
                  {options.max_report_bytes, options.max_memory_bytes, options.refuse_unverified}, complain);
    HttpLimits limits;
    limits.max_connections = descriptors_for(options.max_connections);
    limits.max_body_bytes = options.max_body_bytes;
    HttpServer server(routes, limits);
    routes.counts_of([&server] { return server.numbers(); });
    if (auto why = reload(options, address, access, server)) return unusable(*why);
    if (auto why = server.listen(address.ip, address.port)) return unusable(*why);
    const unsigned cores = std::max(2U, std::thread::hardware_concurrency());
    server.start(options.threads > 0 ? options.threads : cores);
    const bool ip6 = address.ip.find(':') != std::string::npos;
    std::printf("listening on %s://%s:%u\n", options.tls_certificate.empty() ? "http" : "https",
                ip6 ? ("[" + address.ip + "]").c_str() : address.ip.c_str(), unsigned{server.port()});
    std::fflush(stdout);
    tell_systemd("READY=1");
    wait_for_the_end(signals, options, address, access, server, store, writer);
    tell_systemd("STOPPING=1");
    server.stop(kLastWords);  // what was accepted is answered; then nothing can ask any more
    live.finish();
    routes.finish();
    writer.finish();
    return 0;
}

}  // namespace

int serve(const ServeOptions& options) {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // a file at its limit is a full disk: 503, not death
    ::umask(077);
    sigset_t signals;
    sigemptyset(&signals);
    for (const int each : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, each);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before any thread, which inherits it
    const auto address = address_of(options.listen);
    if (!address) return unusable(options.listen + ": not an ADDRESS:PORT");
    if (options.tls_certificate.empty() != options.tls_key.empty())
        return unusable("a TLS certificate and its key belong together");
    if (options.retention_days < 0) return unusable("retention is a number of days");
    const auto password = password_of(options);
    if (const auto* status = std::get_if<int>(&password)) return *status;
    Access access(options.tokens_file, options.keys_folder, address->loopback || options.insecure);
    // Judged before the store is touched, and read once more when the server is there to be told.
    const auto files = access.made();
    if (const auto* why = std::get_if<std::string>(&files)) return unusable(*why);
    if (auto why = exposed(options, *address, **std::get_if<std::shared_ptr<const AccessFiles>>(&files)))
        return unusable(*why);
    if (!is_postgres(options.database)) {
        const auto closed = close_to_others(options.database);
        if (const auto* why = std::get_if<std::string>(&closed)) {
            complain("the store cannot be used: " + *why);
            return kNoStore;
        }
        for (const std::string& file : *std::get_if<std::vector<std::string>>(&closed))
            complain(file + ": others could read it; its mode is 0600 now");
    }
    auto store = Store::open(options.database, *std::get_if<std::string>(&password));
    if (const auto* why = std::get_if<SqlError>(&store)) {
        complain("the store cannot be used: " + why->what);
        return kNoStore;
    }
    return run(options, *address, access, **std::get_if<std::unique_ptr<Store>>(&store), signals);
}

}  // namespace gpucheck::fleet

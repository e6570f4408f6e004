// Reports in bulk, for the tests and the bench of the receiver:
//   load make TEMPLATE KEY COUNT NODE     one envelope a line (KEY "-": the report itself)
//   load send PORT TEMPLATE KEY COUNT CONNECTIONS   sends them over keep-alive and prints rate and latencies
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "agent/report/report_id.h"
#include "providers/delivery/gzip.h"
#include "providers/sign/dsse.h"

namespace {

using Clock = std::chrono::steady_clock;

std::string content(const char* path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// The value of a member of text that gpucheck wrote: "name": "value".
void set_member(std::string& json, const std::string& name, const std::string& value) {
    for (const char* between : {"\": \"", "\":\""}) {
        const std::size_t at = json.find("\"" + name + between);
        if (at == std::string::npos) continue;
        const std::size_t from = at + name.size() + 1 + std::string(between).size();
        json.replace(from, json.find('"', from) - from, value);
        return;
    }
}

struct Made {
    std::string id, body;
};

class Maker {
  public:
    Maker(const char* pattern, const char* key) : pattern_(content(pattern)) {
        if (std::string(key) == "-") return;
        auto read = gpucheck::sign::private_key(content(key));
        if (auto* made = std::get_if<gpucheck::sign::PrivateKey>(&read))
            key_ = *made;
        else
            std::exit((std::fprintf(stderr, "%s is no key\n", key), 64));
    }
    Made make(const std::string& node) const {
        Made made{gpucheck::report::new_report_id(), pattern_};
        set_member(made.body, "report_id", made.id);
        set_member(made.body, "created", gpucheck::report::rfc3339_now());
        set_member(made.body, "hostname", node);
        set_member(made.body, "instance_id", node);
        if (!key_) return made;
        auto envelope = gpucheck::sign::make_envelope(*key_, gpucheck::sign::kReportType, made.body);
        made.body = std::get<std::string>(envelope);
        return made;
    }
    bool signs() const { return key_.has_value(); }

  private:
    std::string pattern_;
    std::optional<gpucheck::sign::PrivateKey> key_;
};

std::string request_of(const Made& made, bool is_envelope) {
    const std::string packed = gpucheck::delivery::compress(made.body).value();
    return "POST /v1/reports HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/vnd." +
           std::string(is_envelope ? "dsse.envelope.v1+json" : "gpucheck.report+json") +
           "\r\nContent-Encoding: gzip\r\nIdempotency-Key: " + made.id + "\r\nce-id: " + made.id +
           "\r\nContent-Length: " + std::to_string(packed.size()) + "\r\n\r\n" + packed;
}

struct Tally {
    std::mutex lock;
    std::vector<double> latencies_ms;
    std::map<std::string, std::size_t> answers;
};

bool talk(int fd, const std::string& request, std::string& status) {
    for (std::size_t sent = 0; sent < request.size();) {
        const ssize_t put = ::send(fd, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
        if (put <= 0) return false;
        sent += static_cast<std::size_t>(put);
    }
    std::string answer;
    char block[4096];
    while (answer.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = ::recv(fd, block, sizeof block, 0);
        if (got <= 0) return false;
        answer.append(block, static_cast<std::size_t>(got));
    }
    status = answer.substr(9, 3);
    return true;
}

void send_some(int port, const std::vector<std::string>& requests, std::atomic<std::size_t>& next,
               Tally& tally) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::vector<double> latencies;
    std::map<std::string, std::size_t> answers;
    if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) {
        for (std::size_t i = next++; i < requests.size(); i = next++) {
            const auto from = Clock::now();
            std::string status;
            if (!talk(fd, requests[i], status)) {
                answers["broken"] += 1;
                break;
            }
            latencies.push_back(std::chrono::duration<double, std::milli>(Clock::now() - from).count());
            answers[status] += 1;
        }
    }
    ::close(fd);
    const std::lock_guard guard(tally.lock);
    tally.latencies_ms.insert(tally.latencies_ms.end(), latencies.begin(), latencies.end());
    for (const auto& [status, count] : answers) tally.answers[status] += count;
}

int send(int port, const Maker& maker, std::size_t count, std::size_t connections) {
    std::vector<std::string> requests;
    for (std::size_t i = 0; i < count; ++i)
        requests.push_back(request_of(maker.make("node-" + std::to_string(i % 400)), maker.signs()));
    Tally tally;
    std::atomic<std::size_t> next = 0;
    const auto from = Clock::now();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < connections; ++i)
        threads.emplace_back([&] { send_some(port, requests, next, tally); });
    for (std::thread& thread : threads) thread.join();
    const double seconds = std::chrono::duration<double>(Clock::now() - from).count();
    auto& ms = tally.latencies_ms;
    std::sort(ms.begin(), ms.end());
    const auto at = [&](double share) {
        return ms.empty() ? 0 : ms[static_cast<std::size_t>(static_cast<double>(ms.size() - 1) * share)];
    };
    std::printf(
        "%zu answers in %.2f s over %zu connections: %.0f/s; p50 %.1f ms, p99 %.1f ms, max %.1f ms; %zu "
        "bytes each;",
        ms.size(), seconds, connections, static_cast<double>(ms.size()) / seconds, at(0.5), at(0.99), at(1),
        requests.empty() ? 0 : requests[0].size());
    for (const auto& [status, times] : tally.answers) std::printf(" %s: %zu", status.c_str(), times);
    std::printf("\n");
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string mode = count > 1 ? arguments[1] : "";
    if (mode == "make" && count == 6) {
        const Maker maker(arguments[2], arguments[3]);
        for (int i = std::atoi(arguments[4]); i > 0; --i) {
            std::string line = maker.make(arguments[5]).body;
            std::replace(line.begin(), line.end(), '\n', ' ');  // between tokens: strings of JSON have none
            std::puts(line.c_str());
        }
        return 0;
    }
    if (mode == "send" && count == 7)
        return send(std::atoi(arguments[2]), Maker(arguments[3], arguments[4]),
                    std::strtoul(arguments[5], nullptr, 10), std::strtoul(arguments[6], nullptr, 10));
    std::fprintf(stderr, "see the first lines of load.cpp\n");
    return 64;
}

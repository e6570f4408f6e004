// Resolves host names; see resolve.h.
#include "providers/http/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace gpucheck::http {
namespace {

constexpr std::size_t kMaxAddresses = 16;

// Shared with the thread, which may outlive whoever asked.
struct Question {
    std::mutex mutex;
    std::condition_variable answered;
    bool done = false;
    int error = 0;
    std::vector<std::string> addresses;
};

std::vector<std::string> texts_of(const addrinfo* list) {
    std::vector<std::string> texts;
    for (; list != nullptr && texts.size() < kMaxAddresses; list = list->ai_next) {
        std::array<char, 64> text{};
        if (::getnameinfo(list->ai_addr, list->ai_addrlen, text.data(), text.size(), nullptr, 0,
                          NI_NUMERICHOST) == 0)
            texts.emplace_back(text.data());
    }
    return texts;
}

void ask(const std::string& host, Question& question) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* list = nullptr;
    const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
    std::vector<std::string> addresses = texts_of(list);
    if (list != nullptr) ::freeaddrinfo(list);
    const std::lock_guard lock(question.mutex);
    question.error = error;
    question.addresses = std::move(addresses);
    question.done = true;
    question.answered.notify_all();
}

}  // namespace

bool is_address(const std::string& host) {
    in6_addr any{};
    return ::inet_pton(AF_INET, host.c_str(), &any) == 1 || ::inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

std::variant<std::vector<std::string>, Failed> resolve(const std::string& host,
                                                       std::chrono::milliseconds limit) {
    const auto question = std::make_shared<Question>();
    try {
        std::thread([question, host] { ask(host, *question); }).detach();
    } catch (const std::system_error&) {
        return Failed{Failure::local, "no thread to ask the name server"};
    }
    std::unique_lock lock(question->mutex);
    if (!question->answered.wait_for(lock, limit, [&] { return question->done; }))
        return Failed{Failure::timeout, "no answer of the name server for " + host};
    if (question->error != 0 || question->addresses.empty())
        return Failed{Failure::dns,
                      host + ": " + ::gai_strerror(question->error != 0 ? question->error : EAI_NONAME)};
    return question->addresses;
}

}  // namespace gpucheck::http

// Plays a service for tests in other languages:
//   serve SCRIPT LOG [--tls FOLDER] [--ipv6]
// prints "port N" and answers until its stdin ends. SCRIPT: see script.cpp. Each request is appended to LOG
// as a JSON line before it is answered. --tls writes FOLDER/ca.pem and FOLDER/pin.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <variant>

#include "tests/loopback/loopback.h"
#include "tests/loopback/script.h"

namespace {

using namespace gpucheck::loopback;

int refuse(const std::string& why) {
    std::fprintf(stderr, "serve: %s\n", why.c_str());
    return 64;
}

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

int serve(const std::string& script_path, const std::string& log_path, Options options) {
    auto handler = script(content_of(script_path));
    if (const auto* why = std::get_if<std::string>(&handler)) return refuse(script_path + ": " + *why);
    const int log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0) return refuse(log_path + ": " + std::strerror(errno));
    options.remember = false;
    const Server server(
        [&](const Seen& seen) {
            const std::string line = line_of(seen);
            if (::write(log, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
                return Reply{507, {}, {}};
            return std::get<Handler>(handler)(seen);
        },
        options);
    std::printf("port %u\n", server.port());
    std::fflush(stdout);
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) continue;
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return refuse("usage: serve SCRIPT LOG [--tls FOLDER] [--ipv6]");
    Options options;
    std::unique_ptr<Authority> authority;
    for (int i = 3; i < argc; ++i) {
        const std::string option = argv[i];
        if (option == "--ipv6") {
            options.ipv6 = true;
        } else if (option == "--tls" && i + 1 < argc) {
            authority = std::make_unique<Authority>();
            options.tls = authority.get();
            const std::string folder = argv[++i];
            std::ofstream(folder + "/ca.pem") << content_of(authority->ca_file());
            std::ofstream(folder + "/pin") << authority->pin();
        } else {
            return refuse("unknown option " + option);
        }
    }
    return serve(argv[1], argv[2], options);
}

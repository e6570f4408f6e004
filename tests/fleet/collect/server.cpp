// The receiver as a program, for the tests beside it: `gpucheck fleet serve` with the names of its options.
#include "fleet/collect/serve.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

int main(int count, char** arguments) {
    gpucheck::fleet::ServeOptions options;
    using Take = std::function<void(const char*)>;
    const auto text = [](std::string& into) { return Take([&into](const char* value) { into = value; }); };
    const std::map<std::string, Take> takers = {
        {"--listen", text(options.listen)},
        {"--db", text(options.database)},
        {"--db-password-file", text(options.database_password_file)},
        {"--tokens", text(options.tokens_file)},
        {"--keys", text(options.keys_folder)},
        {"--tls-cert", text(options.tls_certificate)},
        {"--tls-key", text(options.tls_key)},
        {"--retention-days", [&](const char* value) { options.retention_days = std::atof(value); }},
        {"--max-body", [&](const char* value) { options.max_body_bytes = std::strtoul(value, nullptr, 10); }},
        {"--max-memory",
         [&](const char* value) { options.max_memory_bytes = std::strtoul(value, nullptr, 10); }},
        {"--max-report",
         [&](const char* value) { options.max_report_bytes = std::strtoul(value, nullptr, 10); }},
        {"--max-connections",
         [&](const char* value) { options.max_connections = std::strtoul(value, nullptr, 10); }},
        {"--page-every",
         [&](const char* value) { options.page_every_s = static_cast<unsigned>(std::atoi(value)); }},
        {"--threads", [&](const char* value) { options.threads = static_cast<unsigned>(std::atoi(value)); }},
    };
    for (int i = 1; i < count; ++i) {
        const std::string name = arguments[i];
        if (name == "--insecure") {
            options.insecure = true;
        } else if (name == "--refuse-unverified") {
            options.refuse_unverified = true;
        } else if (const auto taker = takers.find(name); taker != takers.end() && i + 1 < count) {
            taker->second(arguments[++i]);
        } else {
            std::fprintf(stderr, "no such option: %s\n", name.c_str());
            return 64;
        }
    }
    return gpucheck::fleet::serve(options);
}

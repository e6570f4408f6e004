// The receiver of docs/openapi.yaml: what it answered 201 is on disk, or an operator buys 400 machines on the
// 380 reports that survived a power cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "fleet/model/policy.h"

namespace gpucheck::fleet {

struct ServeOptions {
    /// "ADDRESS:PORT", "[::1]:8126"; port 0 takes any free one. An address that is not loopback needs a
    /// certificate and a tokens file, or `insecure`.
    std::string listen = "127.0.0.1:8126";
    /// A file of SQLite, or "postgresql://USER@HOST/DATABASE?..." without a password: arguments are read by
    /// every user of the machine.
    std::string database = "/var/lib/gpucheck-fleet/reports.db";
    std::string database_password_file;  ///< for PostgreSQL; empty: libpq's own ways (PGPASSFILE, peer, ...)
    std::string tokens_file;  ///< JSON of mode 0600 (docs/fleet-serve.md); empty: loopback needs no token
    std::string keys_folder;  ///< *.pem, public keys that are trusted; empty: only enrolled ones
    bool refuse_unverified = false;        ///< also unsigned reports; false: stored as not verified
    std::string tls_certificate, tls_key;  ///< PEM files, read again on SIGHUP
    bool insecure = false;                 ///< plain HTTP, or no tokens, on an address that is not loopback
    double retention_days = 0;             ///< by the time of receipt; 0: kept for ever
    std::size_t max_body_bytes = std::size_t{16} << 20U;     ///< as sent
    std::size_t max_report_bytes = std::size_t{8} << 20U;    ///< decompressed
    std::size_t max_memory_bytes = std::size_t{512} << 20U;  ///< of all bodies in flight; more get 503
    std::size_t max_connections = 4096;                      ///< slow and idle ones go when more come
    unsigned threads = 0;                                    ///< 0: one a core, at least 2
    unsigned page_every_s = 5;                               ///< the page is made again at most that often
    Policy policy = default_policy();
    std::optional<Baseline> baseline;
};

/// Serves until SIGTERM or SIGINT, then finishes what it accepted, within 10 s. Prints one line with the
/// address on standard output when it listens, and faults on standard error. Returns 0, or 64 when an option
/// or a file that it names cannot be used, or 70 when the store cannot.
int serve(const ServeOptions& options);

}  // namespace gpucheck::fleet

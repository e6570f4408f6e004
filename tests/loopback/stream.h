// One connection, plain or TLS.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace gpucheck::loopback {

class Stream {
  public:
    /// Takes the descriptor; with a context it does the server's part of the handshake.
    Stream(int descriptor, SSL_CTX* context);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    bool open() const { return open_; }
    bool write(std::string_view bytes);
    /// Appends what arrives next; false at the end.
    bool read(std::string& into);
    /// Ends the connection with RST instead of FIN.
    void reset();

  private:
    int descriptor_;
    SSL* ssl_ = nullptr;
    bool open_ = true;
};

}  // namespace gpucheck::loopback

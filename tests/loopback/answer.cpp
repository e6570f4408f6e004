// The manners of an answer; see loopback.h.
#include "tests/loopback/answer.h"

#include <algorithm>
#include <thread>

namespace gpucheck::loopback {
namespace {

std::string head_of(const Seen& seen, const Reply& reply) {
    std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " Said\r\n";
    bool sized = false;
    for (const http::Header& header : reply.headers) {
        head += header.name + ": " + header.value + "\r\n";
        sized = sized || header.name == "Content-Length";
    }
    if (!reply.keep_alive) head += "Connection: close\r\n";
    const bool bare = reply.status == 204 || reply.status == 304;
    if (reply.manner == Manner::endless || reply.manner == Manner::bad_chunk) {
        head += "Transfer-Encoding: chunked\r\n";
    } else if (reply.manner == Manner::length_junk) {
        head += "Content-Length: -12x\r\n";
    } else if (!sized && !bare) {
        const std::uint64_t more =
            reply.manner == Manner::length_high ? std::max<std::uint64_t>(reply.bytes, 1) : 0;
        head += "Content-Length: " + std::to_string(reply.body.size() + more) + "\r\n";
        if (reply.manner == Manner::length_twice)
            head += "Content-Length: " + std::to_string(reply.body.size() + 7) + "\r\n";
    }
    head += "\r\n";
    return seen.method == "HEAD" || bare ? head : head + reply.body;
}

bool drip(Stream& stream, const std::string& text, const Reply& reply, const std::atomic<bool>& stopping) {
    for (const char byte : text) {
        if (stopping || !stream.write({&byte, 1})) return false;
        std::this_thread::sleep_for(reply.pause);
    }
    return true;
}

bool flood(Stream& stream, const Reply& reply, const std::atomic<bool>& stopping) {
    const std::string block = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
    for (std::uint64_t sent = 0; !stopping && (reply.bytes == 0 || sent < reply.bytes); sent += 0x10000) {
        if (!stream.write(block)) return false;
    }
    return stream.write("0\r\n\r\n") && reply.keep_alive;
}

}  // namespace

bool answer(Stream& stream, const Seen& seen, const Reply& reply, const std::atomic<bool>& stopping) {
    const std::string text = head_of(seen, reply);
    std::string ignored;
    switch (reply.manner) {
        case Manner::proper:
            return stream.write(text) && reply.keep_alive;
        case Manner::drip:
            return drip(stream, text, reply, stopping);
        case Manner::endless:
            return stream.write(text) && flood(stream, reply, stopping);
        case Manner::length_high:
        case Manner::length_junk:
        case Manner::length_twice:
            stream.write(text);
            return false;
        case Manner::reset:
            stream.write(std::string_view(text).substr(0, reply.bytes));
            std::this_thread::sleep_for(reply.pause);  // a reset overtakes what was not read yet
            stream.reset();
            return false;
        case Manner::silent:
            while (stream.read(ignored)) ignored.clear();
            return false;
        case Manner::close:
            return false;
        case Manner::bad_status:
            stream.write("I am no web server\r\n\r\n" + reply.body);
            return false;
        case Manner::bad_chunk:
            stream.write(text + "no length\r\n");
            return false;
        case Manner::headers:
            if (!stream.write("HTTP/1.1 200 Said\r\n")) return false;
            while (!stopping && stream.write("x-filler: " + std::string(4000, 'x') + "\r\n")) continue;
            return false;
    }
    return false;
}

}  // namespace gpucheck::loopback

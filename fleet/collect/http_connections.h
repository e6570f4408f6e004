// Every open connection, and which of them only wait or send slowly: they make room when more come, so that
// a thousand idle ones, or two hundred that never finish a body, lock nobody out.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "fleet/collect/http.h"

namespace gpucheck::fleet::collect {

class Connections;

class Connection {
  public:
    Connection(Connections& all, std::string address);
    virtual ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    /// Closes it on its own strand if it still waits or reads.
    virtual void evict() = 0;

  protected:
    Connections& all_;

  private:
    friend class Connections;
    std::list<Connection*>::iterator place_;
    bool listed_ = false;
    std::weak_ptr<Connection> self_;
    const std::string address_;
    double bytes_per_s() const;
    // While a body comes:
    bool reads_ = false;
    std::chrono::steady_clock::time_point since_;
    std::size_t bytes_ = 0;
    std::shared_ptr<void> memory_;
};

class Connections {
  public:
    Connections(HttpHandler& whom, const HttpLimits& bounds) : handler(whom), limits(bounds) {}

    void waits(const std::shared_ptr<Connection>& connection);
    /// A body is about to come, for which memory is set aside under `ticket`.
    void reads(const std::shared_ptr<Connection>& connection, const std::shared_ptr<void>& ticket);
    /// So much of the body is there. False: there is no memory for it, and nobody who is slower.
    bool has_read(Connection& connection, std::size_t bytes);
    void works(Connection& connection);
    /// Of the address that has the most connections: the slowest body, else who has waited longest. False:
    /// all work.
    bool evict_one();
    void evict_all();
    /// False: some are still open.
    bool wait_until_none(std::chrono::milliseconds most);
    std::size_t open() const { return open_; }

    HttpHandler& handler;
    const HttpLimits limits;
    std::atomic<bool> stopping = false;
    std::atomic<std::uint64_t> accepted = 0, evicted = 0, timed_out = 0;

  private:
    friend class Connection;
    std::mutex lock_;
    std::condition_variable fewer_;
    void take_off(Connection& connection);
    void put_on(const std::shared_ptr<Connection>& connection);
    using Before = bool (*)(const Connection&, const Connection*);
    std::shared_ptr<Connection> choose(const std::string* address, Before before);
    static bool is_slowest(const Connection& one, const Connection* other);
    static bool is_slow(const Connection& one, const Connection* other);
    static bool is_idle(const Connection& one, const Connection* other);
    std::list<Connection*> waiting_;  // longest first; those that read a body, too
    std::map<std::string, std::size_t> by_address_;
    std::atomic<std::size_t> open_ = 0;
};

}  // namespace gpucheck::fleet::collect

// Every open connection, and which of them only wait: the one that has waited longest makes room when more
// come, so that a thousand idle ones or a slow stranger lock nobody out.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "fleet/collect/http.h"

namespace gpucheck::fleet::collect {

class Connections;

class Connection {
  public:
    explicit Connection(Connections& all);
    virtual ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    /// Closes it on its own strand if it is still waiting.
    virtual void evict() = 0;

  protected:
    Connections& all_;

  private:
    friend class Connections;
    std::list<std::weak_ptr<Connection>>::iterator place_;
    bool listed_ = false;
};

class Connections {
  public:
    Connections(HttpHandler& whom, const HttpLimits& bounds) : handler(whom), limits(bounds) {}

    void waits(const std::shared_ptr<Connection>& connection);
    void works(Connection& connection);
    /// False: nobody waits.
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
    std::list<std::weak_ptr<Connection>> waiting_;  // longest first
    std::atomic<std::size_t> open_ = 0;
};

}  // namespace gpucheck::fleet::collect

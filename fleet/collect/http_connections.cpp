// Who is connected; see http_connections.h.
#include "fleet/collect/http_connections.h"

namespace gpucheck::fleet::collect {

Connection::Connection(Connections& all) : all_(all) {
    const std::lock_guard lock(all_.lock_);
    all_.open_ += 1;
}

Connection::~Connection() {
    const std::lock_guard lock(all_.lock_);
    if (listed_) all_.waiting_.erase(place_);
    all_.open_ -= 1;
    all_.fewer_.notify_all();
}

void Connections::waits(const std::shared_ptr<Connection>& connection) {
    const std::lock_guard lock(lock_);
    if (connection->listed_) waiting_.erase(connection->place_);
    connection->place_ = waiting_.insert(waiting_.end(), connection);
    connection->listed_ = true;
}

void Connections::works(Connection& connection) {
    const std::lock_guard lock(lock_);
    if (connection.listed_) waiting_.erase(connection.place_);
    connection.listed_ = false;
}

bool Connections::evict_one() {
    std::shared_ptr<Connection> oldest;  // destroyed, if it is the last, after the lock is free
    {
        const std::lock_guard lock(lock_);
        // One that is being destroyed waits for this lock and takes itself off the list.
        for (const auto& each : waiting_)
            if ((oldest = each.lock())) break;
        if (oldest) {
            waiting_.erase(oldest->place_);
            oldest->listed_ = false;
        }
    }
    if (!oldest) return false;
    evicted += 1;
    oldest->evict();
    return true;
}

void Connections::evict_all() {
    while (evict_one()) {
    }
}

bool Connections::wait_until_none(std::chrono::milliseconds most) {
    std::unique_lock lock(lock_);
    return fewer_.wait_for(lock, most, [this] { return open_ == 0; });
}

}  // namespace gpucheck::fleet::collect

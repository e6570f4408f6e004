// Who is connected; see http_connections.h.
#include "fleet/collect/http_connections.h"

#include <utility>

namespace gpucheck::fleet::collect {
namespace {

using Clock = std::chrono::steady_clock;

// A body is slow that has had this long and came slower than this: half of what its time limit demands.
constexpr double kGraceS = 2, kSlowBytesPerS = 131072;

double seconds_since(Clock::time_point from) {
    return std::chrono::duration<double>(Clock::now() - from).count();
}

}  // namespace

Connection::Connection(Connections& all, std::string address) : all_(all), address_(std::move(address)) {
    const std::lock_guard lock(all_.lock_);
    all_.open_ += 1;
    all_.by_address_[address_] += 1;
}

Connection::~Connection() {
    const std::lock_guard lock(all_.lock_);
    all_.take_off(*this);
    all_.open_ -= 1;
    if (const auto count = all_.by_address_.find(address_); --count->second == 0)
        all_.by_address_.erase(count);
    all_.fewer_.notify_all();
}

void Connections::take_off(Connection& connection) {
    if (connection.listed_) waiting_.erase(connection.place_);
    connection.listed_ = connection.reads_ = false;
}

void Connections::put_on(const std::shared_ptr<Connection>& connection) {
    take_off(*connection);
    connection->self_ = connection;
    connection->place_ = waiting_.insert(waiting_.end(), connection.get());
    connection->listed_ = true;
}

void Connections::waits(const std::shared_ptr<Connection>& connection) {
    const std::lock_guard lock(lock_);
    put_on(connection);
}

void Connections::reads(const std::shared_ptr<Connection>& connection, const std::shared_ptr<void>& ticket) {
    const std::lock_guard lock(lock_);
    put_on(connection);
    connection->reads_ = true;
    connection->since_ = Clock::now();
    connection->bytes_ = 0;
    connection->memory_ = ticket;
}

void Connections::works(Connection& connection) {
    std::shared_ptr<void> memory;  // given back, if it is the last, after the lock is free
    const std::lock_guard lock(lock_);
    take_off(connection);
    memory.swap(connection.memory_);
}

double Connection::bytes_per_s() const {
    return static_cast<double>(bytes_) / (seconds_since(since_) + kGraceS);
}

bool Connections::is_slowest(const Connection& one, const Connection* other) {
    return one.reads_ && (other == nullptr || one.bytes_per_s() < other->bytes_per_s());
}
bool Connections::is_slow(const Connection& one, const Connection* other) {
    return is_slowest(one, other) && seconds_since(one.since_) >= kGraceS &&
           one.bytes_per_s() < kSlowBytesPerS;
}
bool Connections::is_idle(const Connection& one, const Connection* other) {
    return !one.reads_ && other == nullptr;
}

// With the lock. The first of `address` (nullptr: of all) that is before the others. One that is on the list
// cannot be gone, as its end takes it off with the lock; but it may have begun to end, and is passed over.
std::shared_ptr<Connection> Connections::choose(const std::string* address, Before before) {
    Connection* found = nullptr;
    for (Connection* const each : waiting_) {
        if (each->self_.expired() || (address != nullptr && each->address_ != *address)) continue;
        if (before(*each, found)) found = each;
    }
    return found == nullptr ? nullptr : found->self_.lock();
}

bool Connections::has_read(Connection& connection, std::size_t bytes) {
    std::shared_ptr<void> own;
    {
        const std::lock_guard lock(lock_);
        connection.bytes_ = bytes;
        own = connection.memory_;
    }
    while (own && !handler.reserve(own, bytes)) {
        std::shared_ptr<Connection> slow;
        std::shared_ptr<void> memory;
        {
            const std::lock_guard lock(lock_);
            slow = choose(nullptr, is_slowest);
            if (!slow || slow.get() == &connection) return false;
            take_off(*slow);
            memory.swap(slow->memory_);
        }
        evicted += 1;
        handler.give_up(memory);
        slow->evict();
    }
    return own != nullptr;  // nullptr: evicted itself
}

bool Connections::evict_one() {
    std::shared_ptr<Connection> victim;  // destroyed, if it is the last, after the lock is free
    std::shared_ptr<void> memory;
    {
        const std::lock_guard lock(lock_);
        // Who shares an address with many pays first: a stranger has few of them, a fleet has many.
        const std::string* most = nullptr;
        std::size_t count = 0;
        for (Connection* const each : waiting_) {
            const auto place = by_address_.find(each->address_);
            if (each->self_.expired() || place == by_address_.end() || place->second <= count) continue;
            count = place->second;
            most = &place->first;
        }
        for (const Before before : {is_slow, is_idle, is_slowest})
            if (!victim && most != nullptr) victim = choose(most, before);
        if (victim) {
            take_off(*victim);
            memory.swap(victim->memory_);
        }
    }
    if (!victim) return false;
    evicted += 1;
    handler.give_up(memory);
    victim->evict();
    return true;
}

void Connections::evict_all() {
    for (;;) {
        std::shared_ptr<Connection> one;
        {
            const std::lock_guard lock(lock_);
            one = choose(nullptr, is_idle);
            if (one) take_off(*one);
        }
        if (!one) return;
        evicted += 1;
        one->evict();
    }
}

bool Connections::wait_until_none(std::chrono::milliseconds most) {
    std::unique_lock lock(lock_);
    return fewer_.wait_for(lock, most, [this] { return open_ == 0; });
}

}  // namespace gpucheck::fleet::collect

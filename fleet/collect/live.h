// The fleet as it is now, for whoever looks: made when somebody asks, at most every few seconds, on a thread
// of its own, so that a look at 4,000 nodes never makes a report wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fleet/collect/store.h"
#include "fleet/model/policy.h"
#include "fleet/model/read.h"

namespace gpucheck::fleet::collect {

struct View {
    std::shared_ptr<const std::string> page;     ///< HTML
    std::shared_ptr<const std::string> summary;  ///< JSON
    std::map<Decision, std::size_t> decisions;
    std::size_t reports = 0, nodes = 0;
    double seconds = 0;  ///< that it took
    std::chrono::steady_clock::time_point made;
};

struct LiveOptions {
    Policy policy;
    std::optional<Baseline> baseline;
    unsigned every_s = 5;
    ReadOptions read;
};

class Live {
  public:
    using Answer = std::function<void(std::shared_ptr<const View>)>;  ///< nullptr: the store cannot be read

    Live(Store& store, LiveOptions options, std::function<void(const std::string&)> complain);
    ~Live();
    /// Answered at once by a view that is young enough, else when a new one is made; on any thread.
    void ask(Answer answer);
    /// The last one, of any age; nullptr: nobody has asked yet.
    std::shared_ptr<const View> last() const;
    void finish();

  private:
    void loop();
    std::shared_ptr<const View> make();
    std::optional<SqlError> read_more();
    bool take(const Body& body);
    void forget(std::size_t reports);
    void drop_claims();

    Store& store_;
    LiveOptions options_;
    std::function<void(const std::string&)> complain_;
    mutable std::mutex lock_;
    std::condition_variable wake_;
    std::vector<Answer> asked_;
    std::shared_ptr<const View> view_;
    std::chrono::steady_clock::time_point failed_;
    bool ending_ = false;
    // The thread's own:
    std::unique_ptr<Fleet> fleet_;
    std::vector<std::int64_t> numbers_;  // of the store, one for each report of the fleet, ascending
    std::int64_t last_ = 0;
    std::size_t unreadable_ = 0, claims_ = 0;
    std::set<std::string, std::less<>> keyed_;  // machines of which a verified report is known
    bool more_keyed_ = false;
    std::thread thread_;
};

/// The same as JSON, the nodes worst first.
std::string summary_json(const Fleet& fleet, const Analysis& analysis, std::size_t max_nodes);

}  // namespace gpucheck::fleet::collect

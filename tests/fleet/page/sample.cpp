// Reports and their analysis by a simple rule: the page only shows it, so that it needs to be plausible and
// no more.
#include "tests/fleet/page/sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace gpucheck::fleet {
namespace {

struct Metric {
    const char* name;
    double centre[2];  // of the first and of the second kind; made up
    bool more, judged;
};
constexpr std::array kMetrics{
    Metric{"bf16_tflops", {640, 560}, true, true},
    Metric{"capacity_bytes", {85.5e9, 205.8e9}, true, false},
    Metric{"fp16_tflops", {650, 570}, true, true},
    Metric{"fp8_tflops", {1180, 1050}, true, true},
    Metric{"host_link_both_gb_s", {92, 88}, true, true},
    Metric{"host_link_d2h_gb_s", {52, 50}, true, true},
    Metric{"host_link_h2d_gb_s", {54, 52}, true, true},
    Metric{"launch_us", {4.1, 6.8}, false, true},
    Metric{"matrix_bf16_tflops", {760, 890}, true, true},
    Metric{"memory_copy_gb_s", {2950, 4100}, true, true},
    Metric{"memory_read_gb_s", {3050, 4300}, true, true},
    Metric{"memory_triad_gb_s", {2980, 4150}, true, true},
    Metric{"power_w", {610, 690}, true, false},
};
constexpr std::array kChecks{
    "amd.clocks",
    "amd.metrics",
    "amd.pcie",
    "amd.ras",
    "amd.temperature",
    "amd.xgmi",
    "boot",
    "burn.ecc",
    "burn.host_link",
    "burn.launch",
    "burn.matrix",
    "burn.memory",
    "burn.peer",
    "burn.power",
    "burn.throttle",
    "burn.uneven",
    "burn.wrong",
    "clock",
    "container",
    "disk",
    "driver.bound",
    "driver.dkms",
    "driver.library",
    "driver.loaded",
    "driver.secure",
    "driver.signature",
    "env",
    "experiments",
    "fabric",
    "firmware",
    "gpu.bus",
    "gpu.expected",
    "host.memory",
    "instance.type",
    "kernel_log",
    "kfd",
    "library",
    "nodes",
    "numa",
    "nvidia.clocks",
    "nvidia.ecc",
    "nvidia.nvlink",
    "nvidia.remap",
    "nvidia.throttle",
    "partition",
    "pcie.link",
    "pcie.power",
    "render",
    "telemetry",
    "time.sync",
};
constexpr std::array kBoards{"nvidia-h100-sxm5-80gb", "amd-mi300x"};
constexpr std::array kTypes{"p5.48xlarge", "Standard_ND96isr_MI300X_v5"};
constexpr std::array kModels{"llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b", "qwen3-235b-a22b"};

class Maker {
  public:
    Maker(std::size_t nodes, std::uint32_t seed) : random_(seed), nodes_(nodes) {}

    Sample make() {
        for (std::size_t node = 0; node < nodes_; ++node) add_report(node);
        for (std::size_t node = 0; node < nodes_; ++node) judge(node);
        rank();
        group();
        sum_up();
        return std::move(sample_);
    }

  private:
    Name name(const std::string& text) { return sample_.fleet.names.intern(text); }
    double normal(double sigma) { return std::normal_distribution<double>(1, sigma)(random_); }
    int kind(std::size_t node) const { return node % 3 == 2 ? 1 : 0; }
    // One in fifty is bad, and of four nodes one, each in its way.
    bool bad(std::size_t node) const { return nodes_ < 50 ? node == 1 : node % 50 == 7; }
    bool unheard(std::size_t node) const { return nodes_ >= 50 && node % 400 == 33; }

    void add_report(std::size_t node) {
        NodeReport report;
        char text[64];
        std::snprintf(text, sizeof text, "gpu-%02zu-%04zu", node / 64, node);
        report.node = node == 2 ? kHostileName : text;
        report.key = "aws/i-0" + std::to_string(100000 + node);
        report.where = "reports/" + std::to_string(node / 100) + ".jsonl:" + std::to_string(node % 100 + 1);
        report.boot_id = "b" + std::to_string(node);
        report.provider = name(kind(node) ? "azure" : "aws");
        report.instance_type = name(kTypes[static_cast<std::size_t>(kind(node))]);
        report.region = name("eu-north-1");
        report.zone = name(node % 2 ? "eu-north-1a" : "eu-north-1b");
        report.driver = name(kind(node)  ? "amdgpu 6.12.12"
                             : bad(node) ? "nvidia 570.86.15"
                                         : "nvidia 570.133.20");
        report.kernel = name("6.8.0-1021-aws");
        report.os = name("Ubuntu 24.04.2 LTS");
        report.tool_version = name("0.1.0");
        report.profile = name("acceptance");
        report.labels = {{name("image"), name("train-2026-11")},
                         {name("rack"), name("r" + std::to_string(node / 32))}};
        report.gpus_expected = 8;
        report.gpus_found = bad(node) && node % 4 == 3 ? 7 : 8;
        report.gpus_bound = report.gpus_found;
        report.verified = node % 10 != 0;
        report.usd_per_hour = static_cast<float>((kind(node) ? 48.0 : 55.04) * (node % 5 == 0 ? 0.9 : 1));
        report.verdict = bad(node) ? Verdict::fail : node % 23 == 5 ? Verdict::warn : Verdict::pass;
        if (!unheard(node)) measure(report, node);
        add_findings(report, node);
        for (std::size_t old = node % 4; old > 0; --old) add_earlier(report, old);
        std::snprintf(text, sizeof text, "2026-11-30T02:%02zu:%02zuZ", node / 60 % 60, node % 60);
        report.created = text;
        report.report_id = "01938c5e-7b1a-7f00-8000-" + std::to_string(100000000000 + node);
        reports_of_.push_back(sample_.fleet.reports.size());
        sample_.fleet.reports.push_back(std::move(report));
    }

    void measure(NodeReport& report, std::size_t node) {
        double speed = 1;
        for (int gpu = 0; gpu < report.gpus_found; ++gpu) {
            Gpu one;
            char text[64];
            std::snprintf(text, sizeof text, "0000:%02x:00.0", 0x19 + gpu * 0x10);
            one.bdf = name(text);
            one.board = name(kBoards[static_cast<std::size_t>(kind(node))]);
            std::snprintf(text, sizeof text, "GPU-%08zx-1c2d-4e5f-9a0b-%012zx",
                          node * 2654435761U % 0xffffffff, node * 8 + static_cast<std::size_t>(gpu));
            one.identity = text;
            one.firmware = name(kind(node) ? "113-M3000100-102" : "96.00.99.00.01");
            one.verdict = bad(node) && gpu == 3 ? Verdict::fail : Verdict::pass;
            for (const Metric& metric : kMetrics) {
                double factor = std::string(metric.name) == "capacity_bytes" ? 1 : normal(0.008);
                if (bad(node) && gpu == 3 &&
                    std::string(metric.name).find(node % 4 == 1 ? "bf16" : "memory") != std::string::npos)
                    factor *= 0.88;
                one.values.push_back(
                    {name(metric.name), static_cast<float>(metric.centre[kind(node)] * factor)});
                if (metric.judged && metric.more) speed = std::min(speed, factor);
            }
            report.gpus.push_back(std::move(one));
        }
        for (const char* model : kModels) {
            for (const double concurrency : {1.0, 32.0, 512.0}) {
                const double tokens = 90 * std::pow(concurrency, 0.8) * speed * normal(0.004);
                report.costs.push_back({name(model), name("fp8"), static_cast<float>(concurrency),
                                        static_cast<float>(tokens),
                                        static_cast<float>(report.usd_per_hour / 3600.0F / tokens * 1e6)});
            }
        }
    }

    void add_findings(NodeReport& report, std::size_t node) {
        const auto add = [&](const char* code, const char* check, Verdict verdict, const char* scope,
                             const char* action, int gpu) {
            report.problems.push_back(
                {name(code), name(check), verdict, name(scope), name(action),
                 gpu < 0 ? name("host") : report.gpus[static_cast<std::size_t>(gpu)].bdf, gpu});
        };
        if (bad(node) && report.gpus.size() > 3) {
            add("burn.memory.slow", "burn.memory", Verdict::fail, "host", "drain_and_replace", 3);
            add("burn.uneven.slow", "burn.uneven", Verdict::warn, "host", "monitor", 3);
            if (node % 4 == 3) add("gpu.bus.dead", "gpu.bus", Verdict::fail, "host", "drain_and_replace", -1);
        }
        if (node == 1) add("constructor", "__proto__", Verdict::warn, "toString", "valueOf", -1);
        if (node % 23 == 5) add("env.serialized", "env", Verdict::warn, "guest", "fix_guest_config", -1);
        if (node % 31 == 4) add("driver.dkms.building", "driver.dkms", Verdict::unknown, "guest", "none", -1);
        for (std::size_t i = 0; i < kChecks.size(); ++i) {
            const std::string check = kChecks[i];
            if (check.starts_with(kind(node) ? "nvidia" : "amd")) continue;
            CheckState state{name(check), i % 17 == 3 ? Verdict::not_applicable : Verdict::pass};
            for (const Problem& problem : report.problems) {
                if (problem.check == state.check) state.verdict = std::max(state.verdict, problem.verdict);
            }
            report.checks.push_back(state);
        }
    }

    void add_earlier(const NodeReport& newest, std::size_t age) {
        NodeReport report;
        report.node = newest.node;
        report.key = newest.key;
        report.created = "2026-11-" + std::to_string(29 - age) + "T02:10:00Z";
        report.report_id = newest.key + std::to_string(age);
        report.driver = newest.driver;
        report.profile = newest.profile;
        report.verdict = newest.verdict;
        report.problems = newest.problems;
        sample_.fleet.reports.push_back(std::move(report));
    }

    void judge(std::size_t node) {
        NodeResult result;
        result.report = reports_of_[node];
        const NodeReport& report = sample_.fleet.reports[result.report];
        for (std::size_t old = 1; old <= node % 4; ++old) result.earlier.push_back(result.report - old);
        if (unheard(node)) {
            result.reasons.push_back(
                {Decision::no_evidence, "missing measurement", "no GPU of it was measured", -1});
        } else if (bad(node)) {
            result.decision = node % 4 == 1 ? Decision::quarantine : Decision::reject;
            result.evidence = 8 + static_cast<double>(node % 7);
            result.reasons.push_back(
                {result.decision, "slow against peers",
                 "memory copy of GPU 3 is 2,590 GB/s, 88 % of its group's centre of 2,950 (z -15.2)", 3});
            result.reasons.push_back({result.decision, "fail", "burn.memory.slow on 0000:49:00.0", 3});
            if (report.gpus_found < 8)
                result.reasons.push_back(
                    {Decision::reject, "missing GPU", "7 of 8 promised GPUs are on the bus", -1});
        } else {
            result.decision = Decision::accept;
            if (report.verdict == Verdict::warn)
                result.reasons.push_back(
                    {Decision::accept, "warning", "env.serialized: launches wait for each other", -1});
        }
        sample_.analysis.nodes.push_back(std::move(result));
    }

    void rank() {
        const auto& reports = sample_.fleet.reports;
        std::sort(sample_.analysis.nodes.begin(), sample_.analysis.nodes.end(),
                  [&](const NodeResult& a, const NodeResult& b) {
                      const auto weight = [](const NodeResult& one) {
                          return one.evidence + (one.decision == Decision::no_evidence ? 1 : 0);
                      };
                      if (weight(a) != weight(b)) return weight(a) > weight(b);
                      return reports[a.report].node < reports[b.report].node;
                  });
    }

    static Distribution spread_of(std::vector<double> values) {
        std::sort(values.begin(), values.end());
        const auto at = [&](double share) {
            const double place = share * static_cast<double>(values.size() - 1);
            const auto low = static_cast<std::size_t>(place);
            const double high = values[std::min(low + 1, values.size() - 1)];
            return values[low] + (place - static_cast<double>(low)) * (high - values[low]);
        };
        Distribution d{.count = values.size(),
                       .min = values.front(),
                       .p05 = at(.05),
                       .p25 = at(.25),
                       .median = at(.5),
                       .p75 = at(.75),
                       .p95 = at(.95),
                       .max = values.back()};
        for (double& value : values) value = std::abs(value - d.median);
        std::sort(values.begin(), values.end());
        d.mad = 1.4826 * at(.5);
        return d;
    }

    void group() {
        Analysis& analysis = sample_.analysis;
        const Fleet& fleet = sample_.fleet;
        std::map<GroupKey, Group> groups;
        for (std::size_t node = 0; node < analysis.nodes.size(); ++node) {
            const NodeReport& report = fleet.reports[analysis.nodes[node].report];
            if (report.gpus.empty()) continue;
            const GroupKey key{fleet.names.text(report.gpus[0].board), fleet.names.text(report.instance_type),
                               fleet.names.text(report.driver), fleet.names.text(report.profile)};
            Group& one = groups[key];
            one.key = key;
            one.nodes.push_back(node);
            ++one.verdicts[report.verdict];
        }
        for (auto& [key, one] : groups) {
            for (const Metric& metric : kMetrics) add_metric(one, metric, analysis.groups.size());
            analysis.groups.push_back(std::move(one));
        }
        std::sort(analysis.outliers.begin(), analysis.outliers.end(), [](const Outlier& a, const Outlier& b) {
            return std::tie(a.z, a.node, a.metric) < std::tie(b.z, b.node, b.metric);
        });
    }

    void add_metric(Group& one, const Metric& metric, std::size_t number) {
        const Fleet& fleet = sample_.fleet;
        const Name wanted = fleet.names.find(metric.name);
        std::vector<double> values;
        std::vector<Outlier> places;
        for (const std::size_t node : one.nodes) {
            const NodeReport& report = fleet.reports[sample_.analysis.nodes[node].report];
            for (std::size_t gpu = 0; gpu < report.gpus.size(); ++gpu) {
                for (const Value& value : report.gpus[gpu].values) {
                    if (value.metric != wanted) continue;
                    values.push_back(static_cast<double>(value.value));
                    places.push_back({.group = number,
                                      .node = node,
                                      .gpu = gpu,
                                      .metric = metric.name,
                                      .value = values.back()});
                }
            }
        }
        MetricSummary summary{.metric = metric.name,
                              .more_is_better = metric.more,
                              .judged = metric.judged,
                              .distribution = spread_of(values),
                              .centre = {}};
        if (values.size() >= 8) {
            const double sigma = std::max(summary.distribution.mad, summary.distribution.median * 1e-6);
            Centre centre{.value = summary.distribution.median, .spread = sigma};
            centre.bar = centre.value + (metric.more ? -6 : 6) * sigma;
            for (Outlier& place : places) {
                place.centre = centre.value;
                place.ratio = place.value / centre.value;
                place.z = (place.value - centre.value) / sigma * (metric.more ? 1 : -1);
                const bool out = metric.judged && place.z < -6;
                ++(out ? centre.dropped : centre.kept);
                if (out) sample_.analysis.outliers.push_back(place);
            }
            summary.centre = centre;
        }
        one.metrics.push_back(std::move(summary));
    }

    void sum_up() {
        Analysis& analysis = sample_.analysis;
        for (const NodeResult& node : analysis.nodes) ++analysis.decisions[node.decision];
        const std::size_t out = analysis.decisions[Decision::reject];
        analysis.decision =
            out || analysis.decisions[Decision::quarantine] ? Decision::reject : Decision::accept;
        analysis.why = {
            std::to_string(out) + " of " + std::to_string(nodes_) + " nodes are rejected: send these back.",
            std::to_string(analysis.decisions[Decision::quarantine]) +
                " more are in quarantine until they were looked at again."};
        analysis.notes = {
            "Nodes without measurements could not be compared: run them with --profile acceptance."};
        if (nodes_ >= 50) {
            // The whole node is slow, and one GPU of a node is.
            Outlier median = analysis.outliers.front(), alone = analysis.outliers.back();
            median.against = Against::nodes;
            alone.against = Against::own_node;
            analysis.outliers.push_back(median);
            analysis.outliers.push_back(alone);
            analysis.commons = {
                {"driver", "nvidia 570.86.15", "burn.memory.slow", 40, 40, nodes_ / 50, nodes_, 1e-30},
                {"label rack", "r2", "outlier memory_copy_gb_s", 3, 32, nodes_ / 50, nodes_, 0.012}};
            analysis.offenders = {{"GPU-00000007-1c2d-4e5f-9a0b-0000000003b",
                                   {{"2026-11-28T02:10:00Z", "gpu-00-0007", "burn.memory.slow"},
                                    {"2026-11-30T02:00:07Z", "gpu-00-0007", "burn.memory.slow"}}}};
        }
        sample_.fleet.rejected = {{"reports/gpu-99-0001.json", "the document ends in the middle of a string"},
                                  {"reports/<b>.json", "schema_version 7.0 is none that is known"}};
    }

    std::mt19937 random_;
    std::size_t nodes_;
    std::vector<std::size_t> reports_of_;  // the newest report of each node
    Sample sample_;
};

}  // namespace

Sample make_sample(std::size_t nodes, std::uint32_t seed) {
    return Maker(nodes, seed).make();
}

}  // namespace gpucheck::fleet

// Forty healthy nodes, to be spoiled one by one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fleet/model/policy.h"
#include "tests/fleet/generate/synthetic.h"

namespace gpucheck::fleet {

constexpr auto kNodes = 40U;

class FleetRules : public testing::Test {
  protected:
    FleetRules() {
        Recipe recipe;
        recipe.nodes = kNodes;
        made_ = synthetic(recipe);
    }
    NodeReport& node(std::size_t index) { return made_.fleet.reports[index]; }
    Name name(const char* text) { return made_.fleet.names.intern(text); }
    float& value(std::size_t index, std::size_t gpu, const char* metric) {
        auto& values = node(index).gpus[gpu].values;
        return std::find_if(values.begin(), values.end(),
                            [&](const Value& each) { return each.metric == name(metric); })
            ->value;
    }
    void scale(std::size_t index, const char* metric, float by) {
        for (std::size_t gpu = 0; gpu < node(index).gpus.size(); ++gpu) value(index, gpu, metric) *= by;
    }
    void drop(std::size_t index, std::size_t gpu, const char* metric) {
        std::erase_if(node(index).gpus[gpu].values,
                      [&](const Value& each) { return each.metric == name(metric); });
    }
    Analysis analysed() const { return analyse(made_.fleet, policy_, baseline_); }
    static const NodeResult& result_of(const Analysis& analysis, std::size_t report) {
        return *std::find_if(analysis.nodes.begin(), analysis.nodes.end(),
                             [&](const NodeResult& each) { return each.report == report; });
    }
    /// "reject slow memory", "accept".
    std::string verdict(std::size_t report) const {
        const Analysis analysis = analysed();
        const NodeResult& node = result_of(analysis, report);
        constexpr const char* kNames[] = {"accept", "quarantine", "reject", "no_evidence"};
        std::string text = kNames[static_cast<std::size_t>(node.decision)];
        if (!node.reasons.empty()) text += " " + node.reasons.front().rule;
        return text;
    }
    void fail(std::size_t index, const char* code, const char* scope, int gpu = -1,
              Verdict verdict = Verdict::fail) {
        Problem problem;
        problem.code = name(code);
        problem.scope = name(scope);
        problem.subject = name("host");
        problem.verdict = verdict;
        problem.gpu = gpu;
        node(index).problems.push_back(problem);
        node(index).verdict = std::max(node(index).verdict, verdict);
    }

    Synthetic made_;
    Policy policy_ = default_policy();
    const Baseline* baseline_ = nullptr;
};

}  // namespace gpucheck::fleet

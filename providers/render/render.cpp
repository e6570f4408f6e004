// Picks what is told and hands it to its target; see render.h.
#include "providers/render/render.h"

#include <algorithm>
#include <array>

#include "providers/render/targets.h"

namespace gpucheck::faults {
namespace {

struct Row {
    Target target;
    std::string_view name;
    Verdict least;  ///< warnings are told where they are a mark and not an alarm
    void (*render)(const ReportFacts&, const Place&, const std::vector<Told>&, Rendering&);
};

constexpr std::array kTargets = {
    Row{Target::azure_ghr, "azure-ghr", Verdict::fail, render_azure},
    Row{Target::gcp_report_host, "gcp-report-host", Verdict::fail, render_gcp},
    Row{Target::aws_report_instance_status, "aws-report-instance-status", Verdict::fail, render_aws},
    Row{Target::oci_tag, "oci-tag", Verdict::fail, render_oci},
    Row{Target::do_tag, "do-tag", Verdict::warn, render_do},
    Row{Target::k8s_condition, "k8s-condition", Verdict::fail, render_k8s},
    Row{Target::nvsentinel, "nvsentinel", Verdict::warn, render_nvsentinel},
    Row{Target::npd, "npd", Verdict::fail, render_npd},
    Row{Target::line, "line", Verdict::fail, render_line},
};

const Row& row_of(Target target) {
    return *std::find_if(kTargets.begin(), kTargets.end(),
                         [&](const Row& row) { return row.target == target; });
}

}  // namespace

std::string_view name_of(Target target) {
    return row_of(target).name;
}

std::optional<Target> target_from(std::string_view name) {
    for (const Row& row : kTargets) {
        if (row.name == name) return row.target;
    }
    return std::nullopt;
}

std::string target_names() {
    std::string names;
    for (const Row& row : kTargets) names += (names.empty() ? "" : ", ") + std::string(row.name);
    return names;
}

Place place_of(const ReportFacts& report) {
    Place place;
    place.instance_id = report.instance_id;
    place.region = report.region;
    place.zone = report.zone;
    place.node = report.hostname;
    return place;
}

Rendering render(Target target, const ReportFacts& report, const Place& place, const FaultTable& table) {
    Rendering rendering;
    const Row& row = row_of(target);
    const std::vector<Told> all = told(report, table, row.least, rendering.left_out);
    row.render(report, place, all, rendering);
    return rendering;
}

std::string text_of(const Rendering& rendering) {
    std::string text = rendering.line.empty() ? "" : rendering.line + "\n";
    for (const Rendered& one : rendering.requests) {
        if (!text.empty()) text += "\n";
        if (one.destructive) text += "# destructive: sent only with --destructive\n";
        if (!one.note.empty()) text += "# " + one.note + "\n";
        text += one.request.method + " " + one.request.url + "\n";
        for (const http::Header& header : one.request.headers)
            text += header.name + ": " + header.value + "\n";
        if (!one.credential.empty()) text += "Authorization: <" + one.credential + ">\n";
        if (!one.request.body.empty()) text += "\n" + one.request.body + "\n";
    }
    return text;
}

}  // namespace gpucheck::faults

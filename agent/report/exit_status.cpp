// Verdicts as numbers; see exit_status.h.
#include "agent/report/exit_status.h"

namespace gpucheck::report {

std::string_view name_of(ExitMap map) {
    switch (map) {
        case ExitMap::standard:
            return "standard";
        case ExitMap::nagios:
            return "nagios";
        case ExitMap::npd:
            return "npd";
    }
    return "invalid";
}

std::optional<ExitMap> exit_map_from(std::string_view name) {
    for (const ExitMap map : {ExitMap::standard, ExitMap::nagios, ExitMap::npd}) {
        if (name_of(map) == name) return map;
    }
    return std::nullopt;
}

int exit_status(Verdict verdict, ExitMap map) {
    const bool nagios = map == ExitMap::nagios;
    switch (verdict) {
        case Verdict::pass:
            return 0;
        case Verdict::warn:
            return nagios ? 1 : 0;
        case Verdict::fail:
            return nagios ? 2 : 1;
        case Verdict::unknown:
        case Verdict::not_applicable:
            break;
    }
    return nagios ? 3 : 2;
}

}  // namespace gpucheck::report

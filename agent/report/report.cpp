// Placeholder removed by the renderers.
#include "agent/report/report.h"

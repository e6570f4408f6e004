# One interface target that carries the warning flags of our own code.
add_library(gpucheck_warnings INTERFACE)
target_compile_options(gpucheck_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<BOOL:${GPUCHECK_WERROR}>:-Werror>)

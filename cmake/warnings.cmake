# One interface target that carries the warning flags of our own code.
add_library(gpucheck_warnings INTERFACE)
# g++ 12 sees overlapping copies and copies out of bounds in "literal" + std::string(...) when it optimises (GCC bugs 105651
# and 105329, mended in 13).
set(gpucheck_gcc12 $<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>)
target_compile_options(gpucheck_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<${gpucheck_gcc12}:-Wno-restrict>
  $<${gpucheck_gcc12}:-Wno-array-bounds> $<${gpucheck_gcc12}:-Wno-stringop-overflow>
  $<$<BOOL:${GPUCHECK_WERROR}>:-Werror>)

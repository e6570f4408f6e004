# gpucheck_precompiled(<target>): the model's headers are compiled once and not in each of 150 files, which halves a
# full build. A source must still include what it uses; clangd and the include rule (tests/rules) hold it to that.
function(gpucheck_precompiled target)
  if(NOT TARGET gpucheck_headers)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/headers.cpp CONTENT "// Carries the precompiled headers.\n")
    add_library(gpucheck_headers OBJECT ${CMAKE_BINARY_DIR}/headers.cpp)
    target_include_directories(gpucheck_headers PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(gpucheck_headers PRIVATE gpucheck_warnings)
    target_precompile_headers(gpucheck_headers PRIVATE <algorithm> <array> <cstdio> <functional> <map> <string> <string_view>
      <tuple> <utility> <vector> "${PROJECT_SOURCE_DIR}/checks/model/snapshot.h" "${PROJECT_SOURCE_DIR}/checks/model/check.h")
  endif()
  target_precompile_headers(${target} REUSE_FROM gpucheck_headers)
endfunction()

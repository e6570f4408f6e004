# gpucheck_precompiled(<target> [JSON]): the model's headers, and nlohmann/json's where most files of a target need them, are
# compiled once and not in each of 200 files, which halves a full build. A source must still include what it uses; clangd
# and the include rule (tests/rules) hold it to that.
function(gpucheck_precompiled target)
  set(headers gpucheck_headers)
  set(more "")
  if("JSON" IN_LIST ARGN)
    set(headers gpucheck_json_headers)
    set(more <nlohmann/json.hpp>)
  endif()
  if(NOT TARGET ${headers})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${headers}.cpp CONTENT "// Carries precompiled headers.\n")
    add_library(${headers} OBJECT ${CMAKE_BINARY_DIR}/${headers}.cpp)
    target_include_directories(${headers} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${headers} PRIVATE gpucheck_warnings nlohmann_json::nlohmann_json)
    target_precompile_headers(${headers} PRIVATE ${more} <algorithm> <array> <cstdio> <functional> <map> <optional> <string>
      <string_view> <utility> <variant> <vector>
      "${PROJECT_SOURCE_DIR}/checks/model/snapshot.h" "${PROJECT_SOURCE_DIR}/checks/model/check.h")
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# gpucheck_page_files(<target> <file...>): embeds the style and the scripts of the page with the SHA-256 of each in base64, which is how a
# Content-Security-Policy names what may run. Writes page_files.cpp (embedded.h) from them.

# <hexadecimal> -> base64 in <out>.
function(gpucheck_base64 hex out)
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(LENGTH "${hex}" length)
  set(text "")
  foreach(at RANGE 0 ${length} 6)
    string(SUBSTRING "${hex}" ${at} 6 group)
    string(LENGTH "${group}" digits)
    if(digits EQUAL 0)
      break()
    endif()
    string(SUBSTRING "${group}00000" 0 6 group)
    math(EXPR bits "0x${group}")
    math(EXPR characters "${digits} * 4 / 6 + 1")  # 2 digits: 2, 4: 3, 6: 4 (and 5 with the one too many)
    if(digits EQUAL 6)
      set(characters 4)
    endif()
    foreach(shift 18 12 6 0)
      if(characters GREATER 0)
        math(EXPR index "(${bits} >> ${shift}) & 63")
        string(SUBSTRING "${alphabet}" ${index} 1 character)
        string(APPEND text "${character}")
        math(EXPR characters "${characters} - 1")
      else()
        string(APPEND text "=")
      endif()
    endforeach()
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(gpucheck_page_files target)
  set(declared "")
  set(scripts "")
  foreach(file ${ARGN})
    get_filename_component(path "${file}" ABSOLUTE)
    get_filename_component(name "${path}" NAME)
    string(MAKE_C_IDENTIFIER "gpucheck_page_${name}" symbol)
    gpucheck_embed(${target} ${symbol} "${path}")
    file(SHA256 "${path}" hex)
    gpucheck_base64(${hex} hash)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")  # the hash follows the file
    string(APPEND declared "extern \"C\" const char ${symbol}_begin[];\nextern \"C\" const char ${symbol}_end[];\n")
    set(script "Script{{${symbol}_begin, ${symbol}_end}, \"${hash}\"}")
    if(name MATCHES "\\.css$")
      set(style "${script}")
    elseif(name MATCHES "\\.html$")
      set(shell "{${symbol}_begin, ${symbol}_end}")
    else()
      string(APPEND scripts "        ${script},\n")
    endif()
  endforeach()
  set(charts false)
  if("${ARGN}" MATCHES "chart\\.min\\.js")
    set(charts true)
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/page_files.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"// Made by fleet/page/embedded.cmake.
#include \"fleet/page/embedded.h\"
#include \"fleet/page/page.h\"
${declared}
namespace gpucheck::fleet {
std::string_view page_shell() { return ${shell}; }
Script page_style() { return ${style}; }
std::vector<Script> page_scripts() {
    return {
${scripts}    };
}
bool page_has_charts() { return ${charts}; }
}  // namespace gpucheck::fleet
")
  target_sources(${target} PRIVATE "${source}")
endfunction()

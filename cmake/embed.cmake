# gpucheck_embed(<target> <symbol> <file>): compiles the bytes of <file> into <target> as
#   extern "C" const char <symbol>_begin[]; extern "C" const char <symbol>_end[];
# The bytes are followed by a NUL that is not counted.
function(gpucheck_embed target symbol file)
  get_filename_component(path "${file}" ABSOLUTE)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/embed_${symbol}.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"// Made by cmake/embed.cmake.
asm(\".section .rodata\\n\"
    \".global ${symbol}_begin\\n.global ${symbol}_end\\n.balign 16\\n\"
    \"${symbol}_begin:\\n.incbin \\\"${path}\\\"\\n${symbol}_end:\\n.byte 0\\n.previous\\n\");
")
  set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${path}")
  target_sources(${target} PRIVATE "${source}")
endfunction()

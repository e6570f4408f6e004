# libcuda.so.1 and libamdhip64.so.7 of fake GPUs, in a folder of their own for --driver-dir.
set(gpucheck_fake_driver ${fake_driver} CACHE INTERNAL "folder of the fake driver libraries")

function(gpucheck_fake_compute name soname major)
  add_library(${name} SHARED ${ARGN} device_clock.cpp fake_calls.cpp fake_gpu.cpp fake_kernels.cpp fake_read.cpp
    harm.cpp ${PROJECT_SOURCE_DIR}/checks/model/bdf.cpp)
  target_link_libraries(${name} PRIVATE gpucheck_host_kernels nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS} gpucheck_warnings)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  # Its own symbols stay its own: two of these may live in one process.
  target_link_options(${name} PRIVATE -Wl,-Bsymbolic)
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${soname} SOVERSION ${major} LIBRARY_OUTPUT_DIRECTORY ${gpucheck_fake_driver})
endfunction()

gpucheck_fake_compute(gpucheck_fake_cuda cuda 1 cuda_driver.cpp)
gpucheck_fake_compute(gpucheck_fake_hip amdhip64 7 hip_driver.cpp)

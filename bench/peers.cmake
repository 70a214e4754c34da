# The runtimes to compare with, and how to build a workload for each.
#
# The compiler of this build builds serial, filch and tbb.  libgomp needs gcc and libomp needs
# clang, so those programs are built with these compilers, and so is a serial program to compare
# each with.  All programs get the same flags.
set(left_out "")

# leave_out(RUNTIME REASON)
function(leave_out runtime reason)
  message(STATUS "bench: ${runtime} is left out: ${reason}")
  set(left_out "${left_out}${runtime}: ${reason}\n" PARENT_SCOPE)
endfunction()

function(write_left_out)
  file(WRITE ${programs_dir}/left-out "${left_out}")
  if(FILCH_INSTALL)
    install(FILES ${programs_dir}/left-out DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/filch)
  endif()
endfunction()

# find_openmp(RUNTIME NAME ID PACKAGE): set RUNTIME_compiler if a compiler can build OpenMP
# programs. The compiler is that of this build if it is of the family ID, else NAME.
function(find_openmp runtime name id package)
  find_program(FILCH_BENCH_${name} ${name})
  set(compiler ${FILCH_BENCH_${name}})
  if(CMAKE_C_COMPILER_ID STREQUAL ${id})
    set(compiler ${CMAKE_C_COMPILER})
  endif()
  if(NOT compiler)
    leave_out(${runtime} "${name} is not installed (Debian: ${name})")
  else()
    set(probe ${CMAKE_CURRENT_BINARY_DIR}/openmp_${name})
    file(WRITE ${probe}.c "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
    execute_process(COMMAND ${compiler} ${peer_flags} -fopenmp ${probe}.c -o ${probe}
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
      leave_out(${runtime} "${name} -fopenmp does not work (Debian: ${package})")
    else()
      set(${runtime}_compiler ${compiler} PARENT_SCOPE)
    endif()
  endif()
  set(left_out "${left_out}" PARENT_SCOPE)
endfunction()

string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
separate_arguments(peer_flags UNIX_COMMAND "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}}")
list(APPEND peer_flags -std=gnu11 -fPIE -fvisibility=hidden)
set(peer_warnings -Wall -Wextra -Wshadow -Wconversion -Wundef)
if(FILCH_WERROR)
  list(APPEND peer_warnings -Werror)
endif()

if(CMAKE_CROSSCOMPILING OR FILCH_SANITIZE)
  foreach(runtime tbb libgomp libomp go go-raw)
    leave_out(${runtime} "Filch was built with a cross compiler or with sanitizers")
  endforeach()
else()
  if(CMAKE_CXX_COMPILER)
    find_package(TBB 2021 QUIET)
  endif()
  if(NOT TBB_FOUND)
    leave_out(tbb "oneTBB or a C++ compiler was not found (Debian: libtbb-dev, g++)")
  endif()
  find_openmp(libgomp gcc GNU gcc)
  find_openmp(libomp clang Clang libomp-dev)
  find_program(FILCH_BENCH_go go)
  if(NOT FILCH_BENCH_go)
    leave_out(go "not installed (Debian: golang-go)")
    leave_out(go-raw "not installed (Debian: golang-go)")
  endif()
endif()

# install_program(FILE)
function(install_program file)
  if(FILCH_INSTALL)
    install(PROGRAMS ${file} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/filch)
  endif()
endfunction()

# own_program(WORKLOAD RUNTIME SOURCE [LIBRARY...]): build with the compiler of this build.
function(own_program workload runtime source)
  set(target bench_${workload}_${runtime})
  add_executable(${target} ${workload}/${source} common/runtime_${source})
  target_include_directories(${target} PRIVATE ${workload})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${workload}-${runtime} RUNTIME_OUTPUT_DIRECTORY ${programs_dir})
  target_link_libraries(${target} PRIVATE bench_common bench_${workload} filch_warnings filch_sanitizers ${ARGN} m)
  add_dependencies(bench_programs ${target})
  install_program(${programs_dir}/${workload}-${runtime})
endfunction()

# peer_program(WORKLOAD RUNTIME COMPILER SOURCES [FLAG...]): build with COMPILER in one command.
function(peer_program workload runtime compiler sources)
  set(program ${programs_dir}/${workload}-${runtime})
  file(GLOB headers CONFIGURE_DEPENDS common/*.h ${workload}/*.h)
  add_custom_command(OUTPUT ${program}
    COMMAND ${compiler} ${peer_flags} ${peer_warnings} ${ARGN} -Icommon -I${workload} ${sources} -o ${program} -lm
    DEPENDS ${sources} ${headers}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Building ${workload}-${runtime} by ${compiler}"
    VERBATIM)
  add_custom_target(bench_${workload}_${runtime} DEPENDS ${program})
  add_dependencies(bench_programs bench_${workload}_${runtime})
  install_program(${program})
endfunction()

# go_program(NAME FOLDER): build all Go files of FOLDER if Go is installed.  The build downloads
# nothing and writes only below the build directory.
function(go_program name folder)
  if(NOT FILCH_BENCH_go OR CMAKE_CROSSCOMPILING OR FILCH_SANITIZE)
    return()
  endif()
  set(program ${programs_dir}/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.go)
  add_custom_command(OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E env GO111MODULE=off GOFLAGS= CGO_ENABLED=0 GOCACHE=${CMAKE_CURRENT_BINARY_DIR}/go
      ${FILCH_BENCH_go} build -o ${program} ${sources}
    DEPENDS ${sources}
    COMMENT "Building ${name} by ${FILCH_BENCH_go}"
    VERBATIM)
  add_custom_target(bench_${name} DEPENDS ${program})
  add_dependencies(bench_programs bench_${name})
  install_program(${program})
endfunction()

# bench_workload(NAME [SOURCE...]): build the programs of directory NAME.  NAME.c and the SOURCEs
# are linked into each of them.
function(bench_workload name)
  set(shared ${name}/${name}.c)
  foreach(source IN LISTS ARGN)
    list(APPEND shared ${name}/${source})
  endforeach()
  add_library(bench_${name} OBJECT ${shared})
  target_include_directories(bench_${name} PRIVATE common)
  target_link_libraries(bench_${name} PRIVATE filch_warnings filch_sanitizers)

  own_program(${name} serial serial.c)
  own_program(${name} filch filch.c filch_static)
  # `filch bench run` uses this one.  Counting each spawn costs time, so it is not measured.
  own_program(${name} filch-counted filch.c filch_static)
  target_compile_definitions(bench_${name}_filch-counted PRIVATE FILCH_COUNT_SPAWNS)
  if(TBB_FOUND)
    own_program(${name} tbb tbb.cpp TBB::tbb)
  endif()
  set(sources common/main.c common/options.c common/metrics.c ${shared})
  foreach(runtime libgomp libomp)
    if(${runtime}_compiler)
      set(compiler ${${runtime}_compiler})
      peer_program(${name} ${runtime} ${compiler} "${sources};common/runtime_omp.c;${name}/omp.c" -fopenmp)
      if(NOT compiler STREQUAL CMAKE_C_COMPILER)
        set(family gcc)
        if(runtime STREQUAL libomp)
          set(family clang)
        endif()
        peer_program(${name} serial-${family} ${compiler}
          "${sources};common/runtime_serial.c;${name}/serial.c" -DBENCH_OTHER_COMPILER)
      endif()
    endif()
  endforeach()
endfunction()

# The programs of `filch bench fibers`: fibers-filch and, if Go is installed, fibers-go.  Each has
# all cases; -i chooses one.
file(GLOB fibers_sources CONFIGURE_DEPENDS fibers/filch/*.c)
add_executable(bench_fibers_filch ${fibers_sources} common/runtime_filch.c)
set_target_properties(bench_fibers_filch PROPERTIES
  OUTPUT_NAME fibers-filch RUNTIME_OUTPUT_DIRECTORY ${programs_dir})
target_link_libraries(bench_fibers_filch PRIVATE bench_common filch_static filch_warnings filch_sanitizers)
add_dependencies(bench_programs bench_fibers_filch)
install_program(${programs_dir}/fibers-filch)

go_program(fibers-go fibers/go)

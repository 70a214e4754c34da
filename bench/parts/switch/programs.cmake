# switch-filch: the row of `filch bench fibers` about the raw context switch, which needs internal
# headers.
add_executable(bench_switch parts/switch/switch.c)
target_include_directories(bench_switch PRIVATE ${PROJECT_SOURCE_DIR}/src)
set_target_properties(bench_switch PROPERTIES OUTPUT_NAME switch-filch RUNTIME_OUTPUT_DIRECTORY ${programs_dir})
target_link_libraries(bench_switch PRIVATE bench_common filch_objects filch_warnings filch_sanitizers)
add_dependencies(bench_programs bench_switch)
install_program(${programs_dir}/switch-filch)

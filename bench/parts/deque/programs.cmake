# The programs of `filch lab deques`: deque-<kind> for each kind of deque, and deque-plain for a
# plain array.

# deque_program(KIND SYMBOL)
function(deque_program kind symbol)
  set(target bench_deque_${kind})
  add_executable(${target} parts/deque/deque.c parts/deque/cases.c parts/deque/array_baseline.c)
  target_include_directories(${target} PRIVATE parts/deque ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE BENCH_VARIANT="${kind}" BENCH_KIND=${symbol})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME deque-${kind} RUNTIME_OUTPUT_DIRECTORY ${programs_dir})
  target_link_libraries(${target} PRIVATE bench_common filch_objects filch_warnings filch_sanitizers)
  add_dependencies(bench_programs ${target})
  install_program(${programs_dir}/deque-${kind})
endfunction()

deque_program(plain array_baseline)
foreach(kind locked bounded batch half)
  deque_program(${kind} fi_deque_${kind})
endforeach()

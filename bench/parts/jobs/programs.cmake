# The programs of `filch bench jobs`: jobs-<variant> for each column of its table.  The classical
# job system uses Filch's deques, so it includes internal headers.

# jobs_program(VARIANT SOURCE...)
function(jobs_program variant)
  set(target bench_jobs_${variant})
  add_executable(${target} parts/jobs/jobs.c ${ARGN})
  target_include_directories(${target} PRIVATE parts/jobs)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME jobs-${variant} RUNTIME_OUTPUT_DIRECTORY ${programs_dir})
  target_link_libraries(${target} PRIVATE bench_common filch_static filch_warnings filch_sanitizers)
  add_dependencies(bench_programs ${target})
  install_program(${programs_dir}/jobs-${variant})
endfunction()

# classic_program(VARIANT DEQUE RINGS)
function(classic_program variant deque rings)
  jobs_program(${variant} parts/jobs/variant_classic.c parts/jobs/classic.c parts/jobs/mutex_deque.c)
  target_include_directories(bench_jobs_${variant} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(bench_jobs_${variant} PRIVATE
    BENCH_VARIANT="${variant}" BENCH_DEQUE=${deque} BENCH_RINGS=${rings})
endfunction()

classic_program(basic mutex_deque false)
classic_program(allocator mutex_deque true)
classic_program(lock-free fi_deque_bounded true)

# filch_program(VARIANT SOURCE)
function(filch_program variant source)
  jobs_program(${variant} parts/jobs/${source} parts/jobs/start_filch.c)
  target_compile_definitions(bench_jobs_${variant} PRIVATE BENCH_VARIANT="${variant}")
endfunction()

filch_program(filch variant_filch.c)
filch_program(filch-group variant_filch_group.c)
filch_program(filch-job variant_filch_job.c)

# filch bench jobs: a program for each column of its table, jobs-<column>.  Those of the classical job system are
# made of our own parts, deques and locks, so they are the one bench beside parts/ that looks below the public headers.

# jobs_program(COLUMN SOURCE...)
function(jobs_program column)
  set(target bench_jobs_${column})
  add_executable(${target} parts/jobs/jobs.c ${ARGN})
  target_include_directories(${target} PRIVATE parts/jobs)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME jobs-${column} RUNTIME_OUTPUT_DIRECTORY ${programs_dir})
  target_link_libraries(${target} PRIVATE bench_common filch_static filch_warnings filch_sanitizers)
  add_dependencies(bench_programs ${target})
  install_program(${programs_dir}/jobs-${column})
endfunction()

# classic_program(COLUMN DEQUE RINGS)
function(classic_program column deque rings)
  jobs_program(${column} parts/jobs/column_classic.c parts/jobs/classic.c parts/jobs/mutex_deque.c)
  target_include_directories(bench_jobs_${column} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(bench_jobs_${column} PRIVATE
    BENCH_COLUMN="${column}" BENCH_DEQUE=${deque} BENCH_RINGS=${rings})
endfunction()

classic_program(basic mutex_deque false)
classic_program(allocator mutex_deque true)
classic_program(lock-free fi_deque_bounded true)

# filch_program(COLUMN SOURCE)
function(filch_program column source)
  jobs_program(${column} parts/jobs/${source} parts/jobs/start_filch.c)
  target_compile_definitions(bench_jobs_${column} PRIVATE BENCH_COLUMN="${column}")
endfunction()

filch_program(filch column_filch.c)
filch_program(filch-group column_filch_group.c)
filch_program(filch-job column_filch_job.c)

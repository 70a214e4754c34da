# uts-cluster: UTS on the ranks of an MPI job.  It is compared with MPI programs that are not built
# here.  `filch bench` does not run it, so it has its own main and is not installed.
add_executable(bench_uts_cluster
  uts/cluster.c uts/frontier.c uts/items.c uts/uts.c uts/sha1.c)
target_include_directories(bench_uts_cluster PRIVATE common)
target_compile_definitions(bench_uts_cluster PRIVATE SHA1_UNROLL)
set_target_properties(bench_uts_cluster PROPERTIES
  OUTPUT_NAME uts-cluster RUNTIME_OUTPUT_DIRECTORY ${programs_dir})
target_link_libraries(bench_uts_cluster PRIVATE filch_mpi filch_warnings filch_sanitizers m)
add_dependencies(bench_programs bench_uts_cluster)

if(FILCH_TESTS AND NOT CMAKE_CROSSCOMPILING)
  foreach(mpi one openmpi mpich)
    add_test(NAME bench_uts_cluster_${mpi}
      COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/uts/cluster_test.sh
        $<TARGET_FILE:bench_uts_cluster> ${PROJECT_BINARY_DIR}/cluster ${mpi})
    set_tests_properties(bench_uts_cluster_${mpi} PROPERTIES
      SKIP_RETURN_CODE 77 TIMEOUT ${FILCH_TEST_TIMEOUT} LABELS mpi RUN_SERIAL TRUE)
  endforeach()
  set_tests_properties(bench_uts_cluster_one PROPERTIES LABELS cluster RUN_SERIAL FALSE)
endif()

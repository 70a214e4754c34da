# Tests of libfilch-mpi with real ranks.  The programs use it as a program of a user does.
foreach(program cluster_work cluster_errors)
  add_executable(${program} ${program}.c)
  target_link_libraries(${program} PRIVATE filch_mpi filch_warnings filch_sanitizers Threads::Threads)
endforeach()
filch_mpi_script_test(cluster_work cluster_work.sh cluster_work)
filch_mpi_script_test(cluster_errors cluster_errors.sh cluster_errors)

# reads: random reads of a file by each method (docs/decisions/013-file-reads.md).
add_executable(bench_file_reads files/reads.c)
set_target_properties(bench_file_reads PROPERTIES OUTPUT_NAME file-reads RUNTIME_OUTPUT_DIRECTORY ${programs_dir})
target_link_libraries(bench_file_reads PRIVATE filch filch_warnings filch_sanitizers)

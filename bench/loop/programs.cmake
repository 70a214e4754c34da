# loop-filch: the loop of `filch bench scale-out`.  `./dev bench algo loops` compares loops with other
# runtimes.
add_library(bench_loop OBJECT loop/loop.c)
target_include_directories(bench_loop PRIVATE common)
target_link_libraries(bench_loop PRIVATE filch_warnings filch_sanitizers)
own_program(loop filch filch.c filch_static)

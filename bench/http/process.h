/* Child processes.  They are killed when this process ends. */
#ifndef BENCH_HTTP_PROCESS_H
#define BENCH_HTTP_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

/* Start argv[0], searched in PATH if it has no slash.  *out is a pipe from its standard output.
 * Returns the process id or -errno. */
pid_t process_start(char *const argv[], int *out);

/* Read text up to and including `until` (0: up to the end of file), or until the buffer is full. */
void process_read(int out, char *text, size_t size, char until);

/* Terminate the process and wait for its end.  process_wait returns its exit code or -1. */
void process_end(pid_t pid);
int process_wait(pid_t pid);

/* CPU seconds of the process and of its living descendants. */
double process_cpu(pid_t pid);

#endif

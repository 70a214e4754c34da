/* Other programs: started, heard, and gone when this one is. */
#ifndef BENCH_HTTP_PROCESS_H
#define BENCH_HTTP_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

/* Start argv[0], which is looked for in PATH where it has no slash.  Its output can be read from *out.  -errno where it
 * cannot be. */
pid_t process_start(char *const argv[], int *out);

/* Read until `until` came (0: until the end) or there is no more room, as text. */
void process_read(int out, char *text, size_t room, char until);

/* End it, and wait for that.  process_wait: its exit code, or -1. */
void process_end(pid_t pid);
int process_wait(pid_t pid);

/* CPU seconds of it and of what it has started, as far as that is alive. */
double process_cpu(pid_t pid);

#endif

/* The server that is measured: a process of its own, with as many workers as are asked for. */
#ifndef BENCH_HTTP_SERVER_H
#define BENCH_HTTP_SERVER_H

/* The port that it listens on. */
int server_port(void);

/* The CPU time of it and of its children so far, in seconds. */
double server_cpu(void);

#endif

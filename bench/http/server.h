/* The measured server: a separate process. */
#ifndef BENCH_HTTP_SERVER_H
#define BENCH_HTTP_SERVER_H

/* The port it listens on. */
int server_port(void);

/* CPU seconds of the server and its children so far. */
double server_cpu(void);

#endif

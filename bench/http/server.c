/* The "runtime" of the HTTP benchmarks: starts and stops the measured server for http.c.
 *
 * The server is httpd-<name>, a program in the same directory.  It gets port 0, and prints a line
 * that ends in the port it listens on.  It reads the number of workers from the environment. */
#define _GNU_SOURCE
#include "server.h"

#include "bench.h"
#include "process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

const char *const bench_runtime = BENCH_SERVER;

static pid_t server;
static int output, port;

int server_port(void)
{
    return port;
}

double server_cpu(void)
{
    return process_cpu(server);
}

/* 1,000 connections need more descriptors than the usual soft limit of 1,024. */
static void allow_descriptors(void)
{
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
        l.rlim_cur = l.rlim_max;
        setrlimit(RLIMIT_NOFILE, &l);
    }
}

static void set_worker_variables(unsigned workers)
{
    static const char *const names[] = {"FILCH_WORKERS", "GOMAXPROCS", "HTTPD_WORKERS"};
    char number[16];
    snprintf(number, sizeof number, "%u", workers);
    for (int i = 0; i < 3; i++)
        setenv(names[i], number, 1);
}

static void server_path(char *out, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", out, size - 1);
    out[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(out, '/');
    size_t used = slash ? (size_t)(slash + 1 - out) : 0;
    snprintf(out + used, size - used, "httpd-" BENCH_SERVER);
}

/* The last number in the line. */
static int number_at_end(const char *line)
{
    size_t end = strlen(line);
    while (end > 0 && (line[end - 1] < '0' || line[end - 1] > '9'))
        end--;
    size_t begin = end;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
        begin--;
    return atoi(line + begin);
}

/* Send one request.  Returns NULL, or what is wrong with the server. */
static const char *check_response(void)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char response[13] = "";
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const char *why = NULL;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        why = "cannot connect to the server";
    else if (write(fd, request, sizeof request - 1) < 0)
        why = "cannot send a request to the server";
    else if (process_read(fd, response, sizeof response, '\0'),
             strcmp(response, "HTTP/1.1 200") != 0)
        why = "the server's response is not 200";
    if (fd >= 0)
        close(fd);
    return why;
}

const char *bench_runtime_start(unsigned workers)
{
    char path[4096], line[256];
    char *argv[] = {path, (char *)"0", NULL};
    server_path(path, sizeof path);
    allow_descriptors();
    set_worker_variables(workers);
    server = process_start(argv, &output);
    if (server < 0)
        return strerror((int)-server);
    process_read(output, line, sizeof line, '\n');
    port = number_at_end(line);
    return port > 0 ? check_response() : "the server did not print its port";
}

void bench_runtime_report(FILE *out)
{
    (void)out;
}

void bench_runtime_stop(void)
{
    process_end(server);
    close(output);
}

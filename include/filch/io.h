/* Files and sockets: calls that wait park the fiber, not its worker.  In a thread they block the thread.
 *
 *     #include <filch/fiber.h>
 *     #include <filch/io.h>
 *
 *     static void echo(void *arg)
 *     {
 *         int fd = (int)(intptr_t)arg;
 *         char buf[4096];
 *         for (ssize_t n; (n = filch_read(fd, buf, sizeof buf)) > 0;)
 *             filch_write_all(fd, buf, (size_t)n);
 *         filch_close(fd);
 *     }
 *
 *     int main(void)
 *     {
 *         int s = filch_listen("127.0.0.1", 0, 16);
 *         for (int fd; s >= 0 && (fd = filch_accept_until(s, 0)) >= 0;)
 *             filch_go(echo, (void *)(intptr_t)fd);
 *         return filch_close(s) < 0;
 *     }
 *
 * Every call returns what the system call of its name would, but -errno instead of -1, and never -EINTR or -EAGAIN.  With
 * _until, -ETIMEDOUT when filch_now() passes the deadline (FILCH_FOREVER: never).  All waits of fibers end with -ECANCELED when
 * the fiber is cancelled, or the descriptor is closed by filch_close.
 *
 * Descriptors that Filch opens are non-blocking (O_NONBLOCK) and are closed on exec.  Other
 * descriptors, such as the standard input and output, may be used as well.  They keep their file
 * status flags, which other processes may share.  Close every descriptor that was used here with
 * filch_close: it wakes the fibers that wait for the descriptor, and the number can be used again.
 * Regular files are read and written by spare threads, as nothing else keeps them from blocking a
 * worker.
 *
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 */
#ifndef FILCH_IO_H
#define FILCH_IO_H

#include <filch/time.h>
#include <filch/version.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

FILCH_BEGIN_DECLS

/* Of <sys/uio.h> and <sys/socket.h>, which only who uses them needs to include. */
struct iovec;
struct msghdr;
struct sockaddr;

/* ---- bytes ---- */

FILCH_API ssize_t filch_read(int fd, void *buf, size_t n);
FILCH_API ssize_t filch_read_until(int fd, void *buf, size_t n, int64_t deadline);
FILCH_API ssize_t filch_write(int fd, const void *buf, size_t n);
FILCH_API ssize_t filch_write_until(int fd, const void *buf, size_t n, int64_t deadline);
FILCH_API ssize_t filch_readv(int fd, const struct iovec *v, int n);
FILCH_API ssize_t filch_readv_until(int fd, const struct iovec *v, int n, int64_t deadline);
FILCH_API ssize_t filch_writev(int fd, const struct iovec *v, int n);
FILCH_API ssize_t filch_writev_until(int fd, const struct iovec *v, int n, int64_t deadline);
FILCH_API ssize_t filch_recvmsg(int fd, struct msghdr *m, int flags);
FILCH_API ssize_t filch_recvmsg_until(int fd, struct msghdr *m, int flags, int64_t deadline);
FILCH_API ssize_t filch_sendmsg(int fd, const struct msghdr *m, int flags);
FILCH_API ssize_t filch_sendmsg_until(int fd, const struct msghdr *m, int flags, int64_t deadline);
FILCH_API ssize_t filch_sendfile(int out, int in, off_t *offset, size_t n);
FILCH_API ssize_t filch_sendfile_until(int out, int in, off_t *offset, size_t n, int64_t deadline);

/* All n bytes.  A write to a socket whose other side is gone gives -EPIPE and no signal.
 * Returns: n; an error, when some bytes may be through.  filch_read_all: fewer than n when the end came first. */
FILCH_API ssize_t filch_write_all(int fd, const void *buf, size_t n);
FILCH_API ssize_t filch_write_all_until(int fd, const void *buf, size_t n, int64_t deadline);
FILCH_API ssize_t filch_read_all(int fd, void *buf, size_t n);
FILCH_API ssize_t filch_read_all_until(int fd, void *buf, size_t n, int64_t deadline);

/* ---- connections ---- */

/* host: an address or a name, NULL: all addresses of this machine; or a path with a slash in it, for a UNIX socket (then
 * port is 0).  port 0: any; filch_local_port tells which.
 * A fiber that looks a name up can be cut short by a deadline or a cancel; a spare thread goes on with it, for as long as it takes,
 * and filch_stop() waits for that.  In a thread neither cuts it short.
 * Returns: a descriptor, or -errno; a name that is not known: -ENOENT, and -EAGAIN when that could not be found out. */
FILCH_API int filch_listen(const char *host, int port, int backlog);
FILCH_API int filch_accept(int fd);
FILCH_API int filch_accept_until(int fd, int64_t deadline);
FILCH_API int filch_connect(const char *host, int port);
FILCH_API int filch_connect_until(const char *host, int port, int64_t deadline);
/* Connect a socket that you have to an address.  A socket in blocking mode is non-blocking during
 * connect(2) only. */
FILCH_API int filch_connect_to(int fd, const struct sockaddr *address, unsigned size);
FILCH_API int filch_connect_to_until(int fd, const struct sockaddr *address, unsigned size,
                                     int64_t deadline);
/* Of a socket of this process; -errno for what has none. */
FILCH_API int filch_local_port(int fd);
/* As pipe2 and socketpair with SOCK_STREAM over UNIX sockets. */
FILCH_API int filch_pipe(int fd[2]);
FILCH_API int filch_socketpair(int fd[2]);

/* Close it.  Fibers that wait for it are woken, with -ECANCELED.  System calls that fibers make on it just now end first. */
FILCH_API int filch_close(int fd);

/* ---- anything else ---- */

#define FILCH_READABLE 1
#define FILCH_WRITABLE 2

/* Wait until a descriptor that can be polled is ready, for one of these or both.
 * Returns: what it is ready for; -ETIMEDOUT; -ECANCELED; -EPERM for what cannot be polled, such as a regular file. */
FILCH_API int filch_wait_fd(int fd, int what);
FILCH_API int filch_wait_fd_until(int fd, int what, int64_t deadline);

/* Run call(arg), which would block a thread, on a spare thread; the worker goes on with other fibers meanwhile.  There are at
 * most filch_config.blocking_threads of them; more calls wait for one.  In a thread that is no worker it is a plain call.
 * Returns: what call returns; -ENOMEM or -EAGAIN when there is no thread to run it. */
FILCH_API int64_t filch_run_blocking(int64_t (*call)(void *arg), void *arg);

FILCH_END_DECLS

#endif

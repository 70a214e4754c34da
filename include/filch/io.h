/* Files, pipes and sockets.  A fiber that waits parks, and its worker runs other fibers.  A thread
 * that waits blocks.
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
 * A wrong argument that Filch finds before the system call is named by a message.
 *
 * Each call returns what the system call of the same name returns, but -errno instead of -1.  It
 * never returns -EINTR, and -EAGAIN only where this header says so.  A socket whose peer is gone
 * returns -EPIPE, and no signal is raised.  A pipe that has no reader raises SIGPIPE, as for
 * write(2), which ends the program unless it ignores or handles that signal.
 *
 * Descriptors that Filch opens are non-blocking (O_NONBLOCK) and are closed on exec.  Other
 * descriptors, such as the standard input and output, may be used as well.  They keep their file
 * status flags, which other processes may share.  Close every descriptor that was used here with
 * filch_close: it wakes the fibers that wait for the descriptor.
 */
#ifndef FILCH_IO_H
#define FILCH_IO_H

#include <filch/time.h>
#include <filch/version.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/select.h> /* sigset_t */
#include <sys/types.h>

FILCH_BEGIN_DECLS

/* These are defined in <sys/uio.h>, <sys/socket.h>, <netdb.h> and <sys/stat.h>. */
struct iovec;
struct msghdr;
struct sockaddr;
struct addrinfo;
struct stat;

/* ---- bytes ---- */

/* Read or write, as the system calls of these names do.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: the number of bytes; 0: end of file.
 *     -EINVAL: filch_readv, filch_writev: n is negative, or v is NULL and n is not 0;
 *         filch_sendfile: the offset is negative.
 *     -ECANCELED: the fiber was cancelled, or filch_close closed the descriptor.
 *     -ETIMEDOUT: calls with a deadline: it passed.
 *     -ENOMEM, -EMFILE, -ENOSPC: no memory, descriptor or epoll watch to wait with.
 *     Other errors are those of the system call. */
FILCH_API ssize_t filch_read(int fd, void *buf, size_t n);
FILCH_API ssize_t filch_read_until(int fd, void *buf, size_t n, int64_t deadline);
FILCH_API ssize_t filch_write(int fd, const void *buf, size_t n);
FILCH_API ssize_t filch_write_until(int fd, const void *buf, size_t n, int64_t deadline);
FILCH_API ssize_t filch_readv(int fd, const struct iovec *v, int n);
FILCH_API ssize_t filch_readv_until(int fd, const struct iovec *v, int n, int64_t deadline);
FILCH_API ssize_t filch_writev(int fd, const struct iovec *v, int n);
FILCH_API ssize_t filch_writev_until(int fd, const struct iovec *v, int n, int64_t deadline);
FILCH_API ssize_t filch_sendfile(int out, int in, off_t *offset, size_t n);
FILCH_API ssize_t filch_sendfile_until(int out, int in, off_t *offset, size_t n, int64_t deadline);

/* Read or write all n bytes.  After an error some bytes may have been read or written.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: n; less than n: filch_read_all reached the end of the file.
 *     -ECANCELED: the fiber was cancelled, or filch_close closed the descriptor.
 *     -EPIPE: filch_write_all: the peer is gone.  A pipe has raised SIGPIPE before.
 *     -ETIMEDOUT: calls with a deadline: it passed.
 *     -ENOMEM, -EMFILE, -ENOSPC: no memory, descriptor or epoll watch to wait with.
 *     Other errors are those of read(2) and write(2). */
FILCH_API ssize_t filch_read_all(int fd, void *buf, size_t n);
FILCH_API ssize_t filch_read_all_until(int fd, void *buf, size_t n, int64_t deadline);
FILCH_API ssize_t filch_write_all(int fd, const void *buf, size_t n);
FILCH_API ssize_t filch_write_all_until(int fd, const void *buf, size_t n, int64_t deadline);

/* Receive or send, as the system calls of these names do.  The address of a peer is stored to
 * address, up to *size bytes, and its length to *size.  Both may be NULL.
 * flags: those of the system call.  With MSG_DONTWAIT the call does not wait.  MSG_WAITALL has no
 *     effect; use filch_read_all.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: the number of bytes; 0: the peer closed the connection, or sent an empty message.
 *     -EINVAL: size is NULL, and address is not.
 *     -EAGAIN: MSG_DONTWAIT was given, and the call would wait.
 *     -ECANCELED: the fiber was cancelled, or filch_close closed the descriptor.
 *     -ETIMEDOUT: calls with a deadline: it passed.
 *     -ENOMEM, -EMFILE, -ENOSPC: no memory, descriptor or epoll watch to wait with.
 *     Other errors are those of the system call. */
FILCH_API ssize_t filch_recv(int fd, void *buf, size_t n, int flags);
FILCH_API ssize_t filch_recv_until(int fd, void *buf, size_t n, int flags, int64_t deadline);
FILCH_API ssize_t filch_send(int fd, const void *buf, size_t n, int flags);
FILCH_API ssize_t filch_send_until(int fd, const void *buf, size_t n, int flags, int64_t deadline);
FILCH_API ssize_t filch_recvfrom(int fd, void *buf, size_t n, int flags, struct sockaddr *address,
                                 unsigned *size);
FILCH_API ssize_t filch_recvfrom_until(int fd, void *buf, size_t n, int flags,
                                       struct sockaddr *address, unsigned *size, int64_t deadline);
FILCH_API ssize_t filch_sendto(int fd, const void *buf, size_t n, int flags,
                               const struct sockaddr *address, unsigned size);
FILCH_API ssize_t filch_sendto_until(int fd, const void *buf, size_t n, int flags,
                                     const struct sockaddr *address, unsigned size,
                                     int64_t deadline);
FILCH_API ssize_t filch_recvmsg(int fd, struct msghdr *m, int flags);
FILCH_API ssize_t filch_recvmsg_until(int fd, struct msghdr *m, int flags, int64_t deadline);
FILCH_API ssize_t filch_sendmsg(int fd, const struct msghdr *m, int flags);
FILCH_API ssize_t filch_sendmsg_until(int fd, const struct msghdr *m, int flags, int64_t deadline);

/* Close the descriptor.  Fibers that wait for it are woken, and their calls return -ECANCELED.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread, until system calls
 *     that other fibers make on the descriptor have returned.
 * Returns: 0: it is closed.
 *     Errors are those of close(2). */
FILCH_API int filch_close(int fd);

/* ---- files ---- */

/* Open a file, as open(2) and openat(2) do.  The descriptor is closed on exec.  It is non-blocking,
 * unless it is that of a regular file, a directory or a block device.
 * mode: of a file that O_CREAT creates.
 * Opening a FIFO without O_NONBLOCK waits for the other end.  A cancellation interrupts this wait,
 * but no other file operation.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: the descriptor.
 *     -ECANCELED: the fiber was cancelled while it waited for the other end of a FIFO.
 *     -ENOMEM: no memory, or no blocking thread.
 *     Other errors are those of the system call. */
FILCH_API int filch_open(const char *path, int flags, mode_t mode);
FILCH_API int filch_openat(int dir, const char *path, int flags, mode_t mode);

/* Read or write at an offset, as the system calls of these names do.  Neither a cancellation nor
 * filch_close interrupts a call on a file that has begun: filch_close waits for it.  Data that the
 * kernel has in memory is read at once, other data by io_uring or a blocking thread.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: the number of bytes; 0: end of file.
 *     -EINVAL: offset is negative.
 *     -ECANCELED: filch_close closed the descriptor before the call began.
 *     -ENOMEM: no memory, or no blocking thread.
 *     Other errors are those of the system call. */
FILCH_API ssize_t filch_pread(int fd, void *buf, size_t n, off_t offset);
FILCH_API ssize_t filch_pwrite(int fd, const void *buf, size_t n, off_t offset);

/* Write a file to its device, or get its attributes, as the system calls of these names do.
 * Nothing interrupts the call.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0.
 *     -ECANCELED: filch_close closed the descriptor before the call began.
 *     -ENOMEM: no memory, or no blocking thread.
 *     Other errors are those of the system call. */
FILCH_API int filch_fsync(int fd);
FILCH_API int filch_stat(const char *path, struct stat *st);
FILCH_API int filch_fstat(int fd, struct stat *st);

/* ---- connections ---- */

/* Create a socket that listens.
 * host: an address or a name; NULL: all addresses of this machine; with a slash: the path of a UNIX
 *     socket, where port is 0.
 * port: 0 means any free port (filch_local_port).
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread, for the lookup of a
 *     name.
 * Returns: the descriptor.
 *     -ENOENT: the name is not known, or the path does not exist.
 *     -EAGAIN: the name could not be looked up.
 *     -EINVAL: port is out of range, or is not 0 for a path.
 *     -ECANCELED: the fiber was cancelled.
 *     Other errors are those of socket(2), bind(2) and listen(2). */
FILCH_API int filch_listen(const char *host, int port, int backlog);

#define FILCH_REUSEPORT 1u

/* The same, with options.
 * flags: 0 or FILCH_REUSEPORT, with which several sockets may have the same address, and the kernel
 *     distributes connections among them (SO_REUSEPORT).
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread, for the lookup of a
 *     name.
 * Returns: the descriptor.
 *     -EINVAL: there is no such flag, port is out of range, or is not 0 for a path.
 *     Other errors are those of filch_listen and setsockopt(2). */
FILCH_API int filch_listen_flags(const char *host, int port, int backlog, unsigned flags);

/* Get a descriptor that the service manager opened for this process (systemd socket activation:
 * LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES).  The first call and each further one for the same
 * descriptor return the same number.  The descriptor keeps its file status flags, and is closed on
 * exec from now on.
 * name: only count descriptors of this name; NULL: count all.
 * index: 0 is the first descriptor.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: the descriptor.
 *     -ENOENT: there is none.
 *     -EBADF: the program has closed it. */
FILCH_API int filch_listen_inherited(const char *name, unsigned index);

/* Create a UDP socket that is bound to an address, for filch_recvfrom and filch_sendto.
 * host, port: as in filch_listen, but not a path.
 * flags: 0 or FILCH_REUSEPORT.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread, for the lookup of a
 *     name.
 * Returns: the descriptor.
 *     -ENOENT: the name is not known.
 *     -EAGAIN: the name could not be looked up.
 *     -EINVAL: there is no such flag, port is out of range, or host is a path.
 *     -ECANCELED: the fiber was cancelled.
 *     Other errors are those of socket(2), setsockopt(2) and bind(2). */
FILCH_API int filch_udp_bind(const char *host, int port, unsigned flags);

/* Create a UDP socket that sends to one address and receives from it only, by filch_send and
 * filch_recv.
 * host, port: as in filch_connect, but not a path.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread, for the lookup of a
 *     name.
 * Returns: the descriptor.
 *     -ENOENT: the name is not known.
 *     -EAGAIN: the name could not be looked up.
 *     -EINVAL: port is out of range, or host is a path.
 *     -ECANCELED: the fiber was cancelled.
 *     -ETIMEDOUT: filch_udp_connect_until: the deadline passed.
 *     Other errors are those of socket(2) and connect(2). */
FILCH_API int filch_udp_connect(const char *host, int port);
FILCH_API int filch_udp_connect_until(const char *host, int port, int64_t deadline);

/* Accept a connection.
 * address, size: the address of the peer is stored to address, up to *size bytes, and its length to
 *     *size.  Both may be NULL.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: the descriptor of the connection.
 *     -EINVAL: size is NULL, and address is not.
 *     -ECANCELED: the fiber was cancelled, or filch_close closed the descriptor.
 *     -ETIMEDOUT: calls with a deadline: it passed.
 *     Other errors are those of accept(2). */
FILCH_API int filch_accept(int fd);
FILCH_API int filch_accept_until(int fd, int64_t deadline);
FILCH_API int filch_accept_from(int fd, struct sockaddr *address, unsigned *size);
FILCH_API int filch_accept_from_until(int fd, struct sockaddr *address, unsigned *size,
                                      int64_t deadline);

/* Connect to a server.  If the name has several addresses, they are tried in turn.
 * host, port: as in filch_listen, but NULL is the loopback address.
 * A deadline or a cancellation interrupts a fiber that looks up a name, but the blocking thread
 * completes the lookup, and filch_stop() waits for it.  In a thread nothing interrupts the lookup.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: the descriptor of the connection.
 *     -ENOENT: the name is not known, or the path does not exist.
 *     -EAGAIN: the name could not be looked up.
 *     -EINVAL: port is out of range, or is not 0 for a path.
 *     -ECANCELED: the fiber was cancelled.
 *     -ETIMEDOUT: filch_connect_until: the deadline passed.
 *     Other errors are those of socket(2) and connect(2). */
FILCH_API int filch_connect(const char *host, int port);
FILCH_API int filch_connect_until(const char *host, int port, int64_t deadline);

/* Connect an existing socket to an address.  A socket in blocking mode is non-blocking during
 * connect(2) only.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0: it is connected.
 *     -ECANCELED: the fiber was cancelled, or filch_close closed the descriptor.
 *     -ETIMEDOUT: filch_connect_to_until: the deadline passed.
 *     Other errors are those of connect(2). */
FILCH_API int filch_connect_to(int fd, const struct sockaddr *address, unsigned size);
FILCH_API int filch_connect_to_until(int fd, const struct sockaddr *address, unsigned size,
                                     int64_t deadline);

/* Look up addresses, as getaddrinfo(3) does.  The caller frees the list with freeaddrinfo(3).  A
 * blocking thread looks up names for a fiber, with deadlines and cancellation as in filch_connect.
 * host, service: one of them may be NULL.
 * hints: NULL: any address.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0: the list is stored to *result.
 *     -ENOENT: the host or the service is not known (EAI_NONAME, EAI_SERVICE, EAI_NODATA,
 *         EAI_ADDRFAMILY).
 *     -EAGAIN: the name could not be looked up (EAI_AGAIN, EAI_FAIL).
 *     -EINVAL: wrong hints (EAI_BADFLAGS, EAI_FAMILY, EAI_SOCKTYPE), host and service are NULL, or
 *         result is NULL.
 *     -ENOMEM: no memory (EAI_MEMORY).
 *     -ECANCELED: the fiber was cancelled.
 *     -ETIMEDOUT: filch_getaddrinfo_until: the deadline passed.
 *     Other errors are those of system calls (EAI_SYSTEM). */
FILCH_API int filch_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                                struct addrinfo **result);
FILCH_API int filch_getaddrinfo_until(const char *host, const char *service,
                                      const struct addrinfo *hints, struct addrinfo **result,
                                      int64_t deadline);

/* Get the local port of a socket.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: the port.
 *     Errors are those of getsockname(2). */
FILCH_API int filch_local_port(int fd);

/* Create a pipe (pipe2(2)), or a pair of connected UNIX stream sockets (socketpair(2)).
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0.
 *     Errors are those of the system call. */
FILCH_API int filch_pipe(int fd[2]);
FILCH_API int filch_socketpair(int fd[2]);

/* ---- processes and signals ---- */

/* Wait for a child process, as waitpid(2) does.  If several fibers wait for one child, one of them
 * gets its status, and the others get -ECHILD.
 * pid: of one child.  Values of 0 and below, which select several children, are refused, because
 *     other parts of the program may have children of their own.
 * status: may be NULL.
 * options: those of waitpid(2).
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: pid; 0: WNOHANG was given, and the child has not changed its state.
 *     -ECHILD: there is no such child, or its status was taken; with an ignored SIGCHLD: it ended.
 *     -EINVAL: pid is not positive, or there is no such option.
 *     -ECANCELED: the fiber was cancelled.
 *     -ETIMEDOUT: filch_waitpid_until: the deadline passed.
 *     -ENOMEM, -ENOSPC: no memory or epoll watch to wait with. */
FILCH_API pid_t filch_waitpid(pid_t pid, int *status, int options);
FILCH_API pid_t filch_waitpid_until(pid_t pid, int *status, int options, int64_t deadline);

/* Wait for a signal that is sent to the process, and take it.  All threads must block the signals
 * of the set, as for sigwait(3): block them in main before the runtime starts, because its threads
 * inherit the mask.  A signal that was sent before the call is pending, and is taken at once.  If
 * several fibers wait for one signal, one of them gets it.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: the number of the signal.
 *     -EINVAL: set is NULL or empty, or the calling thread does not block one of its signals.
 *     -ECANCELED: the fiber was cancelled.
 *     -ETIMEDOUT: the deadline passed; FILCH_FOREVER: there is none.
 *     -ENOMEM, -ENOSPC: no memory or epoll watch to wait with. */
FILCH_API int filch_signal_wait(const sigset_t *set, int64_t deadline);

/* ---- anything else ---- */

#define FILCH_READABLE 1
#define FILCH_WRITABLE 2

/* Wait until a descriptor is ready.
 * what: FILCH_READABLE, FILCH_WRITABLE, or both.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: FILCH_READABLE, FILCH_WRITABLE, or both.
 *     -ECANCELED: the fiber was cancelled, or filch_close closed the descriptor.
 *     -EPERM: the descriptor cannot be polled, such as that of a regular file.
 *     -EBADF: the descriptor is not open.
 *     -EINVAL: what is none of these values.
 *     -ENOMEM, -EMFILE, -ENOSPC: no memory, descriptor or epoll watch to wait with.
 *     -ETIMEDOUT: filch_wait_fd_until: the deadline passed. */
FILCH_API int filch_wait_fd(int fd, int what);
FILCH_API int filch_wait_fd_until(int fd, int what, int64_t deadline);

/* Run call(arg) on a blocking thread, while the worker runs other fibers.  There are at most
 * filch_config.blocking_threads such threads.  Further calls queue in FIFO order.  Do not let one
 * blocking call wait for another that is still queued: they can deadlock.  A cancelled fiber still
 * waits.  In a thread that is not a worker this is a plain call.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: what call returns.
 *     -EINVAL: call is NULL.
 *     -EAGAIN: there is no blocking thread, and none can be started.
 *     -ENOMEM, -EMFILE: no memory or descriptor. */
FILCH_API int64_t filch_run_blocking(int64_t (*call)(void *arg), void *arg);

FILCH_END_DECLS

#endif

"""Refuse one system call at a time, with several errors, as a container's profile or an old kernel would."""
from hostile import DIES, REFUSED, RIGHT, Attack

# If Filch can work without the call, the results must be right.
OPTIONAL = (RIGHT,)
# If it cannot, it must print a message.
NEEDED = (RIGHT, REFUSED, DIES)

UNKNOWN = "ENOSYS EPERM EINVAL EOPNOTSUPP"  # the errors of kernels and profiles for an unknown call
PIN = {"FILCH_AFFINITY": "cpu", "FILCH_WORKERS": "2"}
TRACE = {"FILCH_TRACE": "t.json"}
SAMPLE = {"FILCH_SAMPLE": "s.samples"}
SCALE = {"FILCH_SCALE": "s.json"}

# Not in this list: calls without which glibc itself aborts (rseq, brk, munmap of its thread stacks), and errors that cannot
# occur repeatedly on any system (EINTR for a wait until a time in the past, or for close).
# (call, how the run may end, errors, settings)
TABLE = [
    # Without these Filch is slower, or knows less about the machine.
    ("membarrier", OPTIONAL, UNKNOWN, {}),
    ("epoll_pwait2", OPTIONAL, UNKNOWN, {}),
    ("madvise", OPTIONAL, UNKNOWN + " ENOMEM EAGAIN", {}),
    ("madvise:2=4", OPTIONAL, UNKNOWN, {}),  # MADV_DONTNEED
    ("madvise:2=14", OPTIONAL, UNKNOWN, {}),  # MADV_HUGEPAGE
    ("madvise:2=15", OPTIONAL, UNKNOWN, {}),  # MADV_NOHUGEPAGE
    ("madvise:2=102", OPTIONAL, UNKNOWN + " ENOMEM", {}),  # MADV_GUARD_INSTALL
    ("process_madvise", OPTIONAL, UNKNOWN + " ENOMEM EAGAIN", {}),
    ("prctl", OPTIONAL, UNKNOWN, {}),
    ("sched_getaffinity", OPTIONAL, UNKNOWN, {}),
    ("sched_yield", OPTIONAL, UNKNOWN, {}),
    ("getrandom", OPTIONAL, UNKNOWN + " EAGAIN", {}),
    ("rt_sigpending", OPTIONAL, UNKNOWN, {}),
    ("set_robust_list", OPTIONAL, UNKNOWN, {}),
    ("setsockopt", NEEDED, UNKNOWN, {}),
    ("ioctl", OPTIONAL, UNKNOWN, {}),
    ("clone3", OPTIONAL, "ENOSYS", {}),
    ("futex:1=0", OPTIONAL, "EAGAIN EINTR", {}),  # FUTEX_WAIT: a wait that ends too early is allowed
    ("futex:1=128", OPTIONAL, "EAGAIN EINTR", {}),
    # Files, processes and signals: blocking threads, poll and retries take their place.
    ("io_uring_setup", OPTIONAL, UNKNOWN + " ENOMEM EMFILE EACCES", {}),
    ("io_uring_enter", OPTIONAL, UNKNOWN + " EAGAIN EBUSY", {}),
    ("statx", OPTIONAL, UNKNOWN + " EACCES", {}),
    ("preadv2", OPTIONAL, UNKNOWN + " EAGAIN", {}),
    ("pidfd_open", OPTIONAL, UNKNOWN + " EMFILE ENFILE ENOMEM", {}),
    ("signalfd4", OPTIONAL, UNKNOWN + " EMFILE ENFILE ENOMEM", {}),
    # Pinned workers.
    ("sched_setaffinity", NEEDED, UNKNOWN, PIN),
    ("sched_getaffinity", NEEDED, UNKNOWN, PIN),
    ("getdents64", OPTIONAL, "EPERM ENOSYS EIO", PIN),
    ("faccessat2", OPTIONAL, UNKNOWN, PIN),
    ("uname", OPTIONAL, UNKNOWN, PIN),
    # Without these a part of Filch does not work, and a message says so.
    ("clone", NEEDED, "EPERM EAGAIN ENOMEM ENOSYS", {}),
    ("mmap", NEEDED, "ENOMEM EPERM EAGAIN", {}),
    ("mmap:2=0", NEEDED, "ENOMEM EPERM", {}),  # PROT_NONE
    ("mprotect", NEEDED, "ENOMEM EACCES EPERM", {}),
    ("epoll_create1", NEEDED, UNKNOWN + " EMFILE ENFILE ENOMEM", {}),
    ("epoll_ctl", NEEDED, "EPERM ENOSPC ENOMEM ENOSYS", {}),
    ("epoll_wait", NEEDED, "EPERM ENOSYS EINVAL", {}),
    ("eventfd2", NEEDED, UNKNOWN + " EMFILE ENFILE ENOMEM", {}),
    ("fcntl", NEEDED, UNKNOWN, {}),
    ("socket", NEEDED, "EPERM EACCES EMFILE ENFILE ENOBUFS ENOMEM", {}),
    ("bind", NEEDED, "EPERM EACCES ENOMEM", {}),
    ("listen", NEEDED, "EPERM EOPNOTSUPP", {}),
    ("accept4", NEEDED, "EPERM EMFILE ENFILE ENOBUFS ENOMEM ENOSYS", {}),
    ("connect", NEEDED, "EPERM EACCES ENOMEM", {}),
    ("getsockname", NEEDED, "EPERM ENOBUFS", {}),
    ("socketpair", NEEDED, "EPERM EMFILE ENFILE EOPNOTSUPP", {}),
    ("pipe2", NEEDED, "EPERM EMFILE ENFILE ENOSYS", {}),
    ("sendto", NEEDED, "EPERM ENOBUFS ENOMEM", {}),
    ("sendfile", NEEDED, UNKNOWN + " ENOMEM", {}),
    ("poll", NEEDED, "EPERM EINVAL ENOMEM ENOSYS", {}),
    ("openat", NEEDED, "EPERM EACCES EMFILE ENFILE ENOMEM", {}),
    ("openat", NEEDED, "EPERM EMFILE", PIN),
    ("newfstatat", NEEDED, "EPERM EACCES ENOSYS", {}),
    ("read", NEEDED, "EPERM EIO EINVAL", {}),
    ("close", NEEDED, "EIO EPERM", {}),
    ("rt_sigaction", NEEDED, "EPERM EINVAL", {}),
    ("sigaltstack", NEEDED, "EPERM ENOMEM", {}),
    ("prlimit64", NEEDED, UNKNOWN, {}),
    # Observers must not change the result of the program.
    ("clock_nanosleep", OPTIONAL, "EPERM ENOSYS", TRACE),
    ("clock_nanosleep", OPTIONAL, "EPERM ENOSYS", SAMPLE),
    ("rename", OPTIONAL, "EPERM EACCES ENOSPC ENOSYS", TRACE),
    ("unlink", OPTIONAL, "EPERM EACCES", TRACE),
    ("openat", NEEDED, "EPERM EACCES EMFILE ENOSPC", TRACE),
    ("openat", NEEDED, "EPERM EACCES EMFILE ENOSPC", SAMPLE),
    ("openat", NEEDED, "EPERM EACCES EMFILE ENOSPC", SCALE),
    ("ftruncate", NEEDED, "EPERM EINVAL ENOSPC", SAMPLE),
    ("ftruncate", NEEDED, "EPERM EINVAL ENOSPC", SCALE),
    # All calls that are not in syscalls.h, to check that the table is complete.
    ("others", OPTIONAL, "ENOSYS EPERM", {}),
    ("others", OPTIONAL, "ENOSYS", PIN),
    ("others", OPTIONAL, "ENOSYS", TRACE),
    ("others", OPTIONAL, "ENOSYS", SAMPLE),
    ("others", OPTIONAL, "ENOSYS", SCALE),
]
PARTS = ("tasks jobs fibers barriers chans timers sockets sockets_in_fiber blocking files processes signals algo threads forks restart "
         "look").split()
# Each is a way to refuse all threads.  Then no call ends the program, and these parts run on the calling thread alone.
NO_THREADS = ["clone3=EPERM", "clone3=EAGAIN", "clone3=ENOMEM", "clone3=ENOSYS,clone=EPERM", "clone3=ENOSYS,clone=EAGAIN"]
ALONE = ("tasks", "algo")


def attacks(tools):
    for refused in NO_THREADS:
        for part in PARTS:
            yield Attack(f"{refused} {part}", [tools.launch, "-r", refused, tools.victim, part],
                         (RIGHT,) if part in ALONE else (RIGHT, REFUSED), check=cannot_start if part in ALONE else None,
                         leaves=("victim-*",), quick=part in ("tasks", "jobs", "blocking"))
    for call, may, errors, env in TABLE:
        for error in errors.split():
            settings = "".join(f" {k}={v}" for k, v in env.items())
            # One part at a time, so that a refusal in one does not hide the result of the next.
            for part in ["all"] + (PARTS if may != OPTIONAL else []):
                yield Attack(f"{call}={error} {part}{settings}", [tools.launch, "-r", f"{call}={error}", tools.victim, part],
                             may, env, leaves=("t*.json", "t.json.*", "s.samples", "s.json", "victim-*"), quick=part == "all")


def cannot_start(folder, out, err):
    return None if err.count("filch: cannot start the runtime") == 1 else "it does not say once that the runtime cannot start"

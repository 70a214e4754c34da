/* Probes, for perf, bpftrace and the like: each is a nop, and a note in the library that says where it stands and where its
 * arguments are.  Without <sys/sdt.h> they are nothing.  docs/observe.md lists them. */
#ifndef FI_SCHED_PROBE_H
#define FI_SCHED_PROBE_H

#ifdef FILCH_HAVE_SDT
#include <sys/sdt.h>
#define FI_PROBE(name)           DTRACE_PROBE(filch, name)
#define FI_PROBE1(name, a)       DTRACE_PROBE1(filch, name, a)
#define FI_PROBE2(name, a, b)    DTRACE_PROBE2(filch, name, a, b)
#define FI_PROBE3(name, a, b, c) DTRACE_PROBE3(filch, name, a, b, c)
#else
#define FI_PROBE(name)           ((void)0)
#define FI_PROBE1(name, a)       ((void)(a))
#define FI_PROBE2(name, a, b)    ((void)(a), (void)(b))
#define FI_PROBE3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#endif

#endif

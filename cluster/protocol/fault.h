/* Faults that the checks must find (tests/cluster/sim).  The shipped library has none of them: the
 * macro is 0.  The tests compile the protocol with FI_PROTOCOL_FAULTS and turn on one fault at a
 * time. */
#ifndef FI_CLUSTER_FAULT_H
#define FI_CLUSTER_FAULT_H

#ifdef FI_PROTOCOL_FAULTS
#include <stdbool.h>
bool fi_protocol_has_fault(const char *name);
#define FI_PROTOCOL_FAULT(name) fi_protocol_has_fault(#name)
#else
#define FI_PROTOCOL_FAULT(name) 0
#endif

#endif

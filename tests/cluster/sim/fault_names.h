/* The names of the faults in the sources of the protocol. */
#ifndef FAULT_NAMES_H
#define FAULT_NAMES_H

#include <stddef.h>

enum { FAULTS_MAX = 64, FAULT_NAME_SIZE = 48 };

typedef struct fault_names {
    char names[FAULTS_MAX][FAULT_NAME_SIZE];
    size_t n;
} fault_names;

/* Find each FI_PROTOCOL_FAULT(name) in the C files of a directory.  Returns 0 or -errno. */
int fault_names_read(const char *directory, fault_names *out);

#endif

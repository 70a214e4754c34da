/* Description of the machine, for the header of a journal. */
#ifndef CLI_LAB_MACHINE_H
#define CLI_LAB_MACHINE_H

#include <stdio.h>

/* Write JSON objects: constant properties, and the current state. */
void machine_write(FILE *out);
void machine_write_now(FILE *out);

/* The model of the CPU. */
void machine_cpu(char *out, size_t capacity);

/* Write a JSON string.  Characters that need escapes are replaced. */
void json_write(FILE *out, const char *text);

#endif

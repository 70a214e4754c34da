/* Description of the machine, for the header of a journal and for filch info. */
#ifndef CLI_LAB_MACHINE_H
#define CLI_LAB_MACHINE_H

#include <stdio.h>

/* Write JSON objects: constant properties, and the current state. */
void machine_write(FILE *out);
void machine_write_now(FILE *out);

/* The model of the CPU. */
void machine_cpu(char *out, size_t capacity);

/* The compiler that built this command. */
extern const char machine_compiler[];

/* The first line of a file without its line break, or "". */
void machine_first_line(const char *path, char *out, size_t capacity);

/* Write a JSON string.  Bytes that are not UTF-8 are written as "?". */
void json_write(FILE *out, const char *text);

#endif

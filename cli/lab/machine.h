/* The machine that something is measured on, for the head of a journal. */
#ifndef CLI_LAB_MACHINE_H
#define CLI_LAB_MACHINE_H

#include <stdio.h>

/* Objects of JSON: what stays as it is, and what was so at this moment. */
void machine_write(FILE *out);
void machine_write_now(FILE *out);

/* The model of the CPU, in no more than capacity. */
void machine_cpu(char *out, size_t capacity);

/* A string of JSON with the same words: what would have to be escaped is replaced. */
void json_write(FILE *out, const char *text);

#endif

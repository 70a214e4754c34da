#ifndef TESTS_UNIT_SERIAL_BITS_H
#define TESTS_UNIT_SERIAL_BITS_H

#include <stddef.h>
#include <stdint.h>

#define BITS_N_MAX 100000

/* Hash the bits of inexact sums of n elements, by filch_reduce and filch_scan: of the library, and
 * of the headers of a serial build. */
uint64_t bits_of_library(size_t n, size_t grain);
uint64_t bits_of_headers(size_t n, size_t grain);

#endif

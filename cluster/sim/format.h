/* Text on the terminal. */
#ifndef FI_SIM_FORMAT_H
#define FI_SIM_FORMAT_H

#include <stdint.h>

enum { FI_GROUPED_SIZE = 32 };

/* The number with commas between thousands. */
const char *fi_format_grouped(uint64_t value, char text[FI_GROUPED_SIZE]);

/* A progress line on stderr, if that is a terminal.  ctx is not used. */
void fi_progress_show(uint64_t items, void *ctx);
void fi_progress_clear(void);

#endif

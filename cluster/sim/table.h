/* The tables of efficiency. */
#ifndef FI_SIM_TABLE_H
#define FI_SIM_TABLE_H

#include <stdbool.h>

/* Print the tables, each row when it is known.
 * Returns false: a rule of the protocol is broken, or a goal is not met. */
bool fi_table_print(bool is_quick);

#endif

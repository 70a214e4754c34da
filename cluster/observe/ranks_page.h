/* The table of ranks that rank 0 publishes for filch top --ranks.  <filch/ranks.h> has its format.
 *
 * A program must not fail because it cannot be observed.  So all functions accept NULL, which is a
 * table that was not opened, and do nothing. */
#ifndef FI_CLUSTER_RANKS_PAGE_H
#define FI_CLUSTER_RANKS_PAGE_H

#include <filch/ranks.h>

typedef struct fi_ranks_page fi_ranks_page;

/* [start] Publish a table of zeros.  started_ns: filch_now() at the start of the program.
 * Returns: NULL: there is no memory or no descriptor. */
fi_ranks_page *fi_ranks_page_open(unsigned ranks, int64_t started_ns);

/* [communication thread] Set the row of a rank.  Nothing happens if the table has only sums. */
void fi_ranks_page_update(fi_ranks_page *page, const filch_ranks_row *row);

/* [communication thread] Set the sums. */
void fi_ranks_page_sums(fi_ranks_page *page, const filch_ranks_sums *sums);

/* [stop] Remove the table. */
void fi_ranks_page_close(fi_ranks_page *page);

#endif

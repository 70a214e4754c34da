/* What is mostly so, where the way that is mostly gone is a matter of nanoseconds. */
#ifndef FI_BASE_ODDS_H
#define FI_BASE_ODDS_H

#define FI_OFTEN(condition)  __builtin_expect(!!(condition), 1)
#define FI_SELDOM(condition) __builtin_expect(!!(condition), 0)

#endif

/* True if a child of this process can start threads; else prints that the test is skipped. */
#ifndef TESTS_UNIT_OBSERVE_FORKS_H
#define TESTS_UNIT_OBSERVE_FORKS_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdio.h>

static inline bool children_can_have_threads(void)
{
#ifdef FILCH_EMULATED
    puts("skipped: the emulator does not support threads after a fork");
    return false;
#else
    if (FI_UNDER_TSAN)
        puts("skipped: ThreadSanitizer does not support threads after a fork");
    return !FI_UNDER_TSAN;
#endif
}

#endif

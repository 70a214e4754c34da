#include <filch/time.h>

#include "base/clock.h"

int64_t filch_now(void)
{
    return fi_clock_now();
}

/* Step 3: a group of functions that run at the same time.  Four of them look for a divisor of a
 * number.  The first that finds one ends the others. */
#include <errno.h>
#include <filch/filch.h>
#include <stdio.h>

enum { PARTS = 4, STEP = 2 * PARTS };

static const unsigned long long number = 100000980001501;

typedef struct part {
    unsigned long long first, divisor;
} part;

static int search(void *arg)
{
    part *p = arg;
    for (unsigned long long n = p->first; n * n <= number; n += STEP) {
        if (number % n == 0)
            return p->divisor = n, 1; /* any value except 0 cancels the group */
        if (n / STEP % 1000 == 0 && filch_fiber_is_cancelled())
            return -ECANCELED;
    }
    return 0;
}

int main(void)
{
    filch_group group = FILCH_GROUP_INIT;
    part parts[PARTS] = {{3, 0}, {5, 0}, {7, 0}, {9, 0}};
    for (int i = 0; i < PARTS; i++)
        filch_group_run_fallible(&group, search, &parts[i]);
    int result = filch_group_wait(&group);
    for (int i = 0; i < PARTS; i++)
        if (parts[i].divisor > 0)
            printf("%llu = %llu * %llu\n", number, parts[i].divisor, number / parts[i].divisor);
    return result == 1 ? 0 : 1;
}

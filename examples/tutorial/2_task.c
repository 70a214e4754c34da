/* Step 2: tasks that call themselves.  It counts the ways to pay an amount with coins. */
#include <filch/filch.h>
#include <stdio.h>

static const int coin[] = {1, 2, 5, 10, 20, 50, 100, 200};

/* The ways to pay an amount with the first n coins are those that use coin n at least once, and
 * those that use only the coins before it. */
FILCH_TASK(long, ways, int, amount, int, n)
{
    if (amount < 0)
        return 0;
    if (amount == 0 || n == 1)
        return 1;
    FILCH_SPAWN(ways, amount - coin[n - 1], n);
    long without = FILCH_CALL(ways, amount, n - 1);
    long with = FILCH_SYNC(ways);
    return with + without;
}

int main(void)
{
    for (int amount = 100; amount <= 500; amount += 100)
        printf("%d cents: %ld ways\n", amount, FILCH_RUN(ways, amount, 8));
    return 0;
}

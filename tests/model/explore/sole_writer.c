/* Locations that only one thread writes (tso).
 *
 * Before such a thread loads its own location, other threads need not run.  The writers are learnt
 * during the exploration: when a location gets a writer after another thread has relied on being
 * the only one, the exploration restarts. */
#include "explore/memory.h"

#include <string.h>

static struct {
    uint8_t writers, relying; /* a bit per thread, in any execution of this check */
} learnt[MAX_LOCATIONS];

void sole_writer_reset(void)
{
    memset(learnt, 0, sizeof learnt);
}

void sole_writer_keep(void)
{
    x_keep(learnt, sizeof learnt);
}

static uint8_t my_bit(void)
{
    return (uint8_t)(1u << search_self());
}

void note_writer(int l)
{
    if (search_in_setup() || (learnt[l].writers & my_bit()))
        return;
    learnt[l].writers |= my_bit();
    if (learnt[l].relying & ~my_bit())
        search_restart();
}

/* True as well if no thread writes it. */
bool is_sole_writer(int l)
{
    bool sole = (learnt[l].writers & ~my_bit()) == 0;
    if (sole && !search_in_setup())
        learnt[l].relying |= my_bit();
    return sole;
}

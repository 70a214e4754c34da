/* Stretches that are in order already, for one kind of element. */
#define STRIDE 64

/* Whether elements from first to last, each compared with the one before it, go up.  No branch depends on a
 * comparison, so that compilers may make several at once. */
static inline bool goes_up(const fi_order *o, const element *from, size_t first, size_t last)
{
    int falls = 0;

    for (size_t i = first; i < last; i++)
        falls |= LESS(o, from + i, from + i - 1);
    return !falls;
}

static size_t length_up(const fi_order *o, const element *from, size_t n)
{
    size_t i = 1;

    while (n - i > STRIDE && goes_up(o, from, i, i + STRIDE))
        i += STRIDE;
    while (i < n && !LESS(o, from + i, from + i - 1))
        i++;
    return i;
}

static inline bool goes_down(const fi_order *o, const element *from, size_t first, size_t last)
{
    int falls = 1;

    for (size_t i = first; i < last; i++)
        falls &= LESS(o, from + i, from + i - 1);
    return falls;
}

static size_t length_down(const fi_order *o, const element *from, size_t n)
{
    size_t i = 1;

    while (n - i > STRIDE && goes_down(o, from, i, i + STRIDE))
        i += STRIDE;
    while (i < n && LESS(o, from + i, from + i - 1))
        i++;
    return i;
}

static size_t run(const fi_order *o, const void *from, size_t n, bool *down)
{
    const element *e = from;

    *down = n > 1 && LESS(o, e + 1, e);
    return *down ? length_down(o, e, n) : length_up(o, e, n);
}

static void mirror(void *from, size_t n, size_t lo, size_t hi)
{
    element *e = from;

    for (size_t i = lo; i < hi; i++) {
        element x = e[i];

        e[i] = e[n - 1 - i];
        e[n - 1 - i] = x;
    }
}

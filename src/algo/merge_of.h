/* Merging two ordered ranges, for one kind of element.  Who includes this says what SIZE is, and LESS(o, a, b): does
 * *a come before *b?
 *
 * A branch that depends on a comparison is foreseen half of the time, and a wrong guess costs more than the
 * comparison.  So both pointers are moved, by 0 or 1.  Then each step waits for the one before it; that is why
 * there are two at once, one from the front and one from the back.
 */
typedef struct ends {
    const element *a, *b; /* both: what is left begins here */
    size_t na, nb;
    element *out;
} ends;

static inline void copy(element *to, const element *from, size_t n)
{
    if (n > 0)
        memmove(to, from, n * sizeof *to);
}

static inline const element *either(int second, const element *a, const element *b)
{
    uintptr_t mask = (uintptr_t)0 - (uintptr_t)second;

    return (const element *)(((uintptr_t)a & ~mask) | ((uintptr_t)b & mask));
}

/* One after the other, which is right for any function. */
static void merge_slowly(const fi_order *o, ends e)
{
    while (e.na > 0 && e.nb > 0)
        if (LESS(o, e.b, e.a)) {
            *e.out++ = *e.b++;
            e.nb--;
        } else {
            *e.out++ = *e.a++;
            e.na--;
        }
    copy(e.out, e.a, e.na);
    copy(e.out + e.na, e.b, e.nb);
}

/* The first and the last `steps` elements, where neither range has less.  False, with *e as it was, when an
 * element would be both: then the function contradicts itself. */
static inline bool merge_both_ends(const fi_order *o, ends *e, size_t steps)
{
    const element *a = e->a, *b = e->b, *a_last = a + e->na - 1, *b_last = b + e->nb - 1;
    element *out = e->out, *out_last = out + e->na + e->nb - 1;

    for (size_t i = 0; i < steps; i++) {
        int second = LESS(o, b, a);
        int first = LESS(o, b_last, a_last);

        *out++ = *either(second, a, b);
        *out_last-- = *either(first, b_last, a_last);
        b += second;
        a += !second;
        a_last -= first;
        b_last -= !first;
    }
    if (a_last + 1 < a || b_last + 1 < b)
        return false;
    *e = (ends){a, b, (size_t)(a_last + 1 - a), (size_t)(b_last + 1 - b), out};
    return true;
}

static void merge(const fi_order *o, const element *a, size_t na, const element *b, size_t nb,
                  element *out)
{
    ends e = {a, b, na, nb, out};

    while (e.na > 3 && e.nb > 3)
        if (!merge_both_ends(o, &e, e.na < e.nb ? e.na : e.nb))
            break;
    merge_slowly(o, e);
}

static bool less(const fi_order *o, const void *a, const void *b)
{
    return LESS(o, (const element *)a, (const element *)b);
}

static void merge_any(const fi_order *o, const void *a, size_t na, const void *b, size_t nb,
                      void *out)
{
    merge(o, a, na, b, nb, out);
}

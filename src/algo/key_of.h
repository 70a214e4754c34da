/* The keys of numbers of one size: WORD is unsigned, KEY is signed, both of SIZE bytes.
 *
 * The bits of a number become a key, which is signed and has the same order: those of a negative one are xor'ed
 * with `fold`, then all with `flip`.
 *
 *              fold                    flip
 *   signed     0                       0
 *   unsigned   0                       the highest bit
 *   floating   all but the highest     0
 */
typedef struct keys {
    WORD fold, flip;
} keys;

static inline keys keys_of(const fi_order *o)
{
    return (keys){(WORD)o->fold, (WORD)o->flip};
}

/* Without a branch, as signs are hard to foresee. */
static inline KEY key_of(keys k, const element *e)
{
    WORD bits, negative; /* all bits of this are set, or none */

    memcpy(&bits, e, sizeof bits);
    negative = (WORD)0 - (bits >> (8 * SIZE - 1));
    return (KEY)(bits ^ (negative & k.fold) ^ k.flip);
}

/* How far it lies above the least. */
static inline WORD distance(keys k, KEY least, const element *e)
{
    return (WORD)key_of(k, e) - (WORD)least;
}

static inline int is_less(const fi_order *o, const element *a, const element *b)
{
    return key_of(keys_of(o), a) < key_of(keys_of(o), b);
}

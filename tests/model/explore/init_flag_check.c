/* A thread that reads a word set by fi_init_set sees all that was written before.  Keys of
 * fiber-local storage are such words: a key that exists has its destructor, and no two keys are
 * equal, also after one was freed.
 *
 * All: S initialise an object and publish the one that was chosen, F initialise one and publish it
 * if no other was, G use the published one; N create a storage key, D read the destructors of all
 * keys.  A published object is initialised. */
#include "explore/kind.h"

/* A lock without futex and spinning. */
#define fi_lock_lock   x_lock
#define fi_lock_unlock x_unlock
#include "fiber/fls_keys.h"

enum { MAX_INDEXES = 4, NO_KEY = 15 };

static fi_fls_keys keys;
static unsigned made;            /* a bit for each key */
static unsigned newest[4];       /* bit number of the key that each thread made last */
static FI_ATOMIC(uint32_t) word; /* the number of the published object, from 1; 0: none yet */
static fi_lock lock;
static uint32_t agreed;

static void setup(void)
{
    static const char *const names[] = NUMBERED("destructor");
    static const char *const states[] = NUMBERED("key");
    made = 0;
    agreed = 0;
    x_init(&keys.lock.word, 0, "lock");
    x_init(&lock.word, 0, "other lock");
    x_init(&word, 0, "word");
    for (int i = 0; i < MAX_INDEXES; i++) {
        newest[i] = NO_KEY;
        x_init(&keys.state[i], 0, states[i]);
        x_init(&keys.destroyer[i], 0, names[i]);
    }
}

static void destroy(void *value)
{
    (void)value;
}

/* The checks make few keys, so their indexes and generations fit in four bits. */
static unsigned bit_of_key(int key)
{
    return (unsigned)(fi_fls_keys_index(key) + MAX_INDEXES * (key / FILCH_FLS_MAX));
}

static int key_of_bit(unsigned bit)
{
    return (int)(bit % MAX_INDEXES + bit / MAX_INDEXES * FILCH_FLS_MAX);
}

static void make_key(int thread)
{
    x_say("make a key");
    int key = fi_fls_keys_add(&keys, destroy);
    unsigned bit = bit_of_key(key);
    if (key < 0 || bit >= NO_KEY)
        x_fail(WRONG, "there is no key");
    else if (made & 1u << bit)
        x_fail(TWICE, "key %d is made twice", key);
    else
        made |= 1u << bit;
    newest[thread] = bit;
}

static void free_key(int thread)
{
    if (newest[thread] == NO_KEY)
        return;
    x_say("free a key");
    if (fi_fls_keys_remove(&keys, key_of_bit(newest[thread])) < 0)
        x_fail(WRONG, "the key was freed already");
    newest[thread] = NO_KEY;
}

static void read_keys(void)
{
    x_say("read all keys");
    for (unsigned bit = 0; bit < 2 * MAX_INDEXES; bit++) {
        int key = key_of_bit(bit);
        if (fi_fls_keys_exists(&keys, key) && !fi_fls_keys_destroyer(&keys, key))
            x_fail(LOST, "a key has no destructor");
    }
}

static void use_published(void)
{
    x_say("use the object");
    uint32_t published = fi_init_get(&word);
    if (published)
        x_data_read((int)published);
}

static uint32_t init_object(int thread)
{
    x_say("initialise an object");
    x_data_write(thread + 1);
    return (uint32_t)thread + 1;
}

/* As in sched/poller.c: one object is chosen under a lock, and every caller publishes it. */
static void publish_chosen(int thread)
{
    uint32_t mine = init_object(thread);
    x_lock(&lock);
    if (!agreed)
        agreed = mine;
    mine = agreed;
    x_unlock(&lock);
    fi_init_set(&word, mine);
}

/* As in io/fd_table.c: the first to publish wins, and all use that. */
static void publish_first(int thread)
{
    uint32_t none = 0;
    fi_init_set_first(&word, &none, init_object(thread));
    use_published();
}

static void operate(const operation *op)
{
    if (op->letter == 'N')
        make_key(op->thread);
    else if (op->letter == 'E')
        free_key(op->thread);
    else if (op->letter == 'D')
        read_keys();
    else if (op->letter == 'S')
        publish_chosen(op->thread);
    else if (op->letter == 'F')
        publish_first(op->thread);
    else
        use_published();
}

static uint64_t summary(void)
{
    uint64_t s = (uint64_t)agreed << 32 | made;
    for (int i = 0; i < 4; i++)
        s |= (uint64_t)newest[i] << (16 + 4 * i);
    return s;
}

static const char *value_name(uint64_t value)
{
    return value == X_BITS(destroy) ? "destroy" : NULL;
}

static const program programs[] = {
    {0, 0, "S", {"G"}},      {0, 0, "F", {"F"}},   {0, 0, "S", {"S", "G"}},
    {0, 0, "F", {"F", "G"}}, {0, 0, "N", {"D"}},   {0, 0, "ND", {"ND"}},
    {0, 0, "N", {"N", "D"}}, {0, 0, "NEN", {"D"}}, {0, 0, "NEN", {"NE", "D"}},
    {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("sets relaxed", "init_flag.set", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("sets first, relaxed", "init_flag.set_first", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("gets relaxed", "init_flag.get", ORDER_RELAXED, RACE, RACE, RACE),
    {.what = NULL},
};

const kind init_flag_kind = {
    .name = "init_flag",
    .owner = "SFGNED",
    .thief = "SFGNED",
    .programs = programs,
    .mutants = mutants,
    .threads = NUMBERED("thread"),
    .data = {"the object"},
    .races = true,
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .value_name = value_name,
};

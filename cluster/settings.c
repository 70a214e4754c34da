#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif
#include "settings.h"

#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CALLER  "filch_cluster_start"
#define MS      UINT64_C(1000000)
#define DAY_MS  UINT64_C(86400000)
#define LOOT    UINT64_C(32768)
#define SILENCE UINT64_C(10000)

/* A numeric setting.  scale: the field is the variable times this. */
typedef struct number {
    const char *variable, *field;
    int64_t configured;
    uint64_t min, max, fallback, scale;
    bool units;
} number;

const char *fi_settings_env(const char *variable)
{
    const char *text = secure_getenv(variable);

    return text && *text ? text : NULL;
}

/* A wrong variable is ignored, unless FILCH_STRICT is 1. */
#define IGNORED "; the value is ignored"

static bool is_strict(void)
{
    const char *text = fi_settings_env("FILCH_STRICT");

    return text && strcmp(text, "1") == 0;
}

static int number_reject(const number *n, const char *text)
{
    bool strict = is_strict();

    fi_report(strict ? FILCH_LEVEL_ERROR : FILCH_LEVEL_WARNING,
              "%s: invalid number ('%.100s'); use %llu to %llu%s", n->variable, text,
              (unsigned long long)n->min, (unsigned long long)n->max, strict ? "" : IGNORED);
    return strict ? -EINVAL : 0;
}

static int unit_shift(const char *unit)
{
    static const char units[] = "kmg";
    const char *at = unit[0] && !unit[1] ? strchr(units, unit[0] | ('a' ^ 'A')) : NULL;

    return at ? (int)(10 * (at - units + 1)) : -1;
}

static bool number_parse(const number *n, const char *text, uint64_t *out)
{
    char *end;
    int shift = 0;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (*end)
        shift = n->units ? unit_shift(end) : -1;
    if (errno || shift < 0 || *out > UINT64_MAX >> shift)
        return false;
    *out <<= shift;
    return *out >= n->min && *out <= n->max;
}

static int number_from_env(const number *n, int64_t *out)
{
    const char *text = fi_settings_env(n->variable);
    uint64_t value = n->fallback;

    if (text && !number_parse(n, text, &value)) {
        int e = number_reject(n, text);
        if (e < 0)
            return e;
        value = n->fallback;
    }
    *out = (int64_t)(value * n->scale);
    return 0;
}

static int number_resolve(const number *n, int64_t *out)
{
    uint64_t min = n->min * n->scale, max = n->max * n->scale;

    if (n->configured == 0)
        return number_from_env(n, out);
    *out = n->configured;
    if (n->configured > 0 && (uint64_t)n->configured >= min && (uint64_t)n->configured <= max)
        return 0;
    fi_report(FILCH_LEVEL_ERROR,
              CALLER ": filch_cluster_config.%s: out of range (%lld); use %llu to %llu", n->field,
              (long long)n->configured, (unsigned long long)min, (unsigned long long)max);
    return -EINVAL;
}

static int loot_resolve(fi_settings *set, const filch_cluster_config *c)
{
    int64_t value = 0;
    number n = {.variable = "FILCH_CLUSTER_LOOT",
                .field = "loot_bytes",
                .min = 1024,
                .max = UINT64_C(1) << 30,
                .fallback = LOOT,
                .scale = 1,
                .units = true};

    n.configured = c->loot_bytes > INT64_MAX ? -1 : (int64_t)c->loot_bytes;
    int e = number_resolve(&n, &value);
    set->loot_bytes = (size_t)value;
    return e;
}

static int counts_resolve(fi_settings *set, const filch_cluster_config *c)
{
    int64_t in_flight = 0, tries = 0;
    int e = number_resolve(&(number){.variable = "FILCH_CLUSTER_IN_FLIGHT",
                                     .field = "in_flight",
                                     .configured = c->in_flight,
                                     .max = 65536,
                                     .scale = 1},
                           &in_flight);

    if (e == 0)
        e = number_resolve(&(number){.variable = "FILCH_CLUSTER_TRIES",
                                     .field = "random_tries",
                                     .configured = c->random_tries,
                                     .max = 64,
                                     .fallback = 2,
                                     .scale = 1},
                           &tries);
    set->in_flight = (unsigned)in_flight;
    set->random_tries = (unsigned)tries;
    return e;
}

static int silence_resolve(fi_settings *set, const filch_cluster_config *c)
{
    number n = {.variable = "FILCH_CLUSTER_SILENCE_MS",
                .field = "silence_ns",
                .configured = c->silence_ns,
                .min = 4000,
                .max = DAY_MS,
                .fallback = SILENCE,
                .scale = MS};
    const char *text = fi_settings_env(n.variable);

    set->silence_ns = INT64_MAX;
    if (c->silence_ns < 0 || (c->silence_ns == 0 && text && strcmp(text, "0") == 0))
        return 0;
    return number_resolve(&n, &set->silence_ns);
}

static int progress_resolve(fi_settings *set, const filch_cluster_config *c)
{
    set->progress = c->progress;
    set->progress_ctx = c->progress_ctx;
    return number_resolve(&(number){.variable = "FILCH_CLUSTER_PROGRESS_MS",
                                    .field = "progress_ns",
                                    .configured = c->progress_ns,
                                    .max = DAY_MS,
                                    .scale = MS},
                          &set->progress_ns);
}

static int check_resolve(fi_settings *set)
{
    const char *text = fi_settings_env("FILCH_CLUSTER_CHECK");
    bool strict = is_strict();

    set->checks_copies = text && strcmp(text, "1") == 0;
    if (!text || set->checks_copies || strcmp(text, "0") == 0)
        return 0;
    fi_report(strict ? FILCH_LEVEL_ERROR : FILCH_LEVEL_WARNING,
              "FILCH_CLUSTER_CHECK: unknown value ('%.100s'); use 0 or 1%s", text,
              strict ? "" : IGNORED);
    return strict ? -EINVAL : 0;
}

/* size: of the struct that the program was compiled with.  A newer header may have more fields. */
static int config_read(filch_cluster_config *to, const filch_cluster_config *from, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)from;

    if (!from)
        return 0;
    for (size_t i = sizeof *to; i < size; i++) {
        if (bytes[i] == 0)
            continue;
        fi_report(FILCH_LEVEL_ERROR,
                  CALLER
                  ": the struct has a field that this library does not know (byte %zu); use a "
                  "newer libfilch-mpi or set the field to 0",
                  i);
        return -EINVAL;
    }
    memcpy(to, from, size < sizeof *to ? size : sizeof *to);
    return 0;
}

int fi_settings_resolve(fi_settings *set, const filch_cluster_config *config, size_t size)
{
    filch_cluster_config c = {0};
    const char *transport = fi_settings_env("FILCH_CLUSTER");
    int e = config_read(&c, config, size);

    if (e < 0)
        return e;
    *set = (fi_settings){
        .transport = c.transport ? c.transport
                     : transport ? transport
                                 : "auto",
        .mpi_comm = c.mpi_comm,
    };
    e = check_resolve(set);
    if (e == 0)
        e = loot_resolve(set, &c);
    if (e == 0)
        e = counts_resolve(set, &c);
    if (e == 0)
        e = silence_resolve(set, &c);
    return e < 0 ? e : progress_resolve(set, &c);
}

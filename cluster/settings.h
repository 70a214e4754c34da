/* The settings of the cluster: filch_cluster_config, the environment and the defaults. */
#ifndef FI_CLUSTER_SETTINGS_H
#define FI_CLUSTER_SETTINGS_H

#include <filch/cluster.h>
#include <stdbool.h>

typedef struct fi_settings {
    const char *transport;
    size_t loot_bytes;
    unsigned in_flight; /* 0: the number of workers */
    unsigned random_tries;
    int64_t silence_ns;  /* INT64_MAX: never */
    int64_t progress_ns; /* 0: no reports */
    void (*progress)(const filch_progress *now, void *ctx);
    void *progress_ctx;
    const void *mpi_comm;
    bool checks_copies; /* FILCH_CLUSTER_CHECK */
} fi_settings;

/* size: of the struct that the program was compiled with.  Returns 0, or -EINVAL after a
 * message. */
int fi_settings_resolve(fi_settings *set, const filch_cluster_config *config, size_t size);

/* The value of an environment variable.  NULL: it is unset or empty, or the program has more
 * privileges than its caller. */
const char *fi_settings_env(const char *variable);

#endif

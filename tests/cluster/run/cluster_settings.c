/* Settings come from the config, then from the environment, then from the defaults. */
#include "../observe/messages.h"

#include "settings.h"

#include <errno.h>

static fi_settings resolved;

static int resolve(const filch_cluster_config *config)
{
    messages_reset();
    return fi_settings_resolve(&resolved, config, sizeof *config);
}

static void defaults_apply(void **state)
{
    (void)state;
    CHECK_INT(resolve(NULL), 0);
    CHECK_STR(resolved.transport, "auto");
    CHECK_INT(resolved.loot_bytes, 32768);
    CHECK_INT(resolved.in_flight, 0);
    CHECK_INT(resolved.random_tries, 2);
    CHECK_INT(resolved.silence_ns, 10000000000);
    CHECK_INT(resolved.progress_ns, 0);
    CHECK(!resolved.checks_copies);
}

static void variables_apply(void **state)
{
    (void)state;
    setenv("FILCH_CLUSTER", "one", 1);
    setenv("FILCH_CLUSTER_LOOT", "4M", 1);
    setenv("FILCH_CLUSTER_IN_FLIGHT", "64", 1);
    setenv("FILCH_CLUSTER_TRIES", "0", 1);
    setenv("FILCH_CLUSTER_SILENCE_MS", "5000", 1);
    setenv("FILCH_CLUSTER_PROGRESS_MS", "250", 1);
    setenv("FILCH_CLUSTER_CHECK", "1", 1);
    CHECK_INT(resolve(NULL), 0);
    CHECK_INT(n_messages, 0);
    CHECK_STR(resolved.transport, "one");
    CHECK_INT(resolved.loot_bytes, 4 << 20);
    CHECK_INT(resolved.in_flight, 64);
    CHECK_INT(resolved.random_tries, 0);
    CHECK_INT(resolved.silence_ns, 5000000000);
    CHECK_INT(resolved.progress_ns, 250000000);
    CHECK(resolved.checks_copies);
    setenv("FILCH_CLUSTER_SILENCE_MS", "0", 1);
    CHECK_INT(resolve(NULL), 0);
    CHECK_INT(resolved.silence_ns, INT64_MAX);
}

/* The config is used first.  The variables are those of the test before. */
static void the_config_wins(void **state)
{
    const filch_cluster_config config = {.transport = "mpi",
                                         .loot_bytes = 2048,
                                         .in_flight = 3,
                                         .random_tries = 1,
                                         .silence_ns = -1,
                                         .progress_ns = 1000000};

    (void)state;
    CHECK_INT(resolve(&config), 0);
    CHECK_STR(resolved.transport, "mpi");
    CHECK_INT(resolved.loot_bytes, 2048);
    CHECK_INT(resolved.in_flight, 3);
    CHECK_INT(resolved.random_tries, 1);
    CHECK_INT(resolved.silence_ns, INT64_MAX);
    CHECK_INT(resolved.progress_ns, 1000000);
}

static void a_wrong_variable_is_named(void **state)
{
    static const char *const wrong[] = {"7", "", "1x", "-5", "2000000000k", "99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("FILCH_CLUSTER_LOOT", wrong[i], 1);
        CHECK_INT(resolve(NULL), 0);
        CHECK_INT(resolved.loot_bytes, 32768);
        CHECK_INT(n_messages, wrong[i][0] != '\0');
    }
    CHECK_STR(messages, "FILCH_CLUSTER_LOOT: invalid number ('99999999999999999999'); use 1024 to "
                        "1073741824; the value is ignored\n");
    setenv("FILCH_STRICT", "1", 1);
    CHECK_INT(resolve(NULL), -EINVAL);
    CHECK_STR(messages, "FILCH_CLUSTER_LOOT: invalid number ('99999999999999999999'); use 1024 to "
                        "1073741824\n");
    unsetenv("FILCH_STRICT");
    unsetenv("FILCH_CLUSTER_LOOT");
}

static void a_wrong_switch_is_named(void **state)
{
    (void)state;
    setenv("FILCH_CLUSTER_CHECK", "yes", 1);
    CHECK_INT(resolve(NULL), 0);
    CHECK(!resolved.checks_copies);
    CHECK_STR(messages, "FILCH_CLUSTER_CHECK: unknown value ('yes'); use 0 or 1; the value is "
                        "ignored\n");
    setenv("FILCH_STRICT", "1", 1);
    CHECK_INT(resolve(NULL), -EINVAL);
    unsetenv("FILCH_STRICT");
    setenv("FILCH_CLUSTER_CHECK", "0", 1);
    CHECK_INT(resolve(NULL), 0);
    CHECK_INT(n_messages, 0);
    unsetenv("FILCH_CLUSTER_CHECK");
}

static void a_wrong_field_is_an_error(void **state)
{
    (void)state;
    CHECK_INT(resolve(&(filch_cluster_config){.loot_bytes = 100}), -EINVAL);
    CHECK_STR(messages, "filch_cluster_start: filch_cluster_config.loot_bytes: out of range (100); "
                        "use 1024 to 1073741824\n");
    CHECK_INT(resolve(&(filch_cluster_config){.loot_bytes = SIZE_MAX}), -EINVAL);
    CHECK_INT(resolve(&(filch_cluster_config){.in_flight = 70000}), -EINVAL);
    CHECK_INT(resolve(&(filch_cluster_config){.random_tries = 65}), -EINVAL);
    CHECK_INT(resolve(&(filch_cluster_config){.silence_ns = 1000}), -EINVAL);
    CHECK_INT(resolve(&(filch_cluster_config){.progress_ns = -1}), -EINVAL);
}

/* A program that was compiled with an older header passes a shorter struct. */
static void a_shorter_config_is_accepted(void **state)
{
    filch_cluster_config config = {.transport = "one", .loot_bytes = 2048, .in_flight = 99999};

    (void)state;
    messages_reset();
    unsetenv("FILCH_CLUSTER_IN_FLIGHT");
    CHECK_INT(fi_settings_resolve(&resolved, &config, offsetof(filch_cluster_config, in_flight)),
              0);
    CHECK_INT(resolved.loot_bytes, 2048);
    CHECK_INT(resolved.in_flight, 0);
}

/* A newer program may set a field that this library does not know. */
static void unknown_fields_are_refused(void **state)
{
    struct {
        filch_cluster_config known;
        uint64_t unknown;
    } config = {0};

    (void)state;
    messages_reset();
    CHECK_INT(fi_settings_resolve(&resolved, &config.known, sizeof config), 0);
    config.unknown = 256;
    CHECK_INT(fi_settings_resolve(&resolved, &config.known, sizeof config), -EINVAL);
    CHECK(strstr(messages, "filch_cluster_start: the struct has a field that this library does not "
                           "know (byte "));
}

CHECK_MAIN(defaults_apply, variables_apply, the_config_wins, a_wrong_variable_is_named,
           a_wrong_switch_is_named, a_wrong_field_is_an_error, a_shorter_config_is_accepted,
           unknown_fields_are_refused)

/* Choose the transport by the variables that launchers set, and load its plugin. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv, dladdr */
#endif
#include "report.h"
#include "transport/transport.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLER "filch_cluster_start"

/* A launcher sets `variable` in each process that it starts. */
typedef struct launcher {
    const char *variable;
    const char *size_variable; /* number of ranks; NULL: it does not say */
    const char *rank_variable; /* number of this rank */
    const char *name;
    const char *plugin;
} launcher;

static const launcher launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI",
     "filch-mpi-openmpi.so"},
    {"PMIX_RANK", NULL, "PMIX_RANK", "PMIx", "filch-mpi-openmpi.so"},
    {"PMI_SIZE", "PMI_SIZE", "PMI_RANK", "MPICH", "filch-mpi-mpich.so"},
    {"PMI_RANK", NULL, "PMI_RANK", "PMI", "filch-mpi-mpich.so"},
};

static const launcher *launcher_find(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++)
        if (secure_getenv(launchers[i].variable))
            return &launchers[i];
    return NULL;
}

/* fallback: the text is not a number. */
static int number_parse(const char *text, int fallback)
{
    char *end;
    unsigned long n;

    if (!text || *text < '0' || *text > '9')
        return fallback;
    errno = 0;
    n = strtoul(text, &end, 10);
    return errno == 0 && *end == '\0' && n <= INT_MAX ? (int)n : fallback;
}

/* 0: unknown. */
static unsigned launcher_ranks(const launcher *l)
{
    return l->size_variable ? (unsigned)number_parse(secure_getenv(l->size_variable), 0) : 0;
}

/* ---- the plugin ---- */

/* The directory of this library, or of the program if the library is linked statically.
 * Returns the length; 0: unknown. */
static int library_directory(const char **directory)
{
    static const char here;
    const char *slash;
    Dl_info info;

    if (dladdr(&here, &info) == 0 || !info.dli_fname)
        return 0;
    slash = strrchr(info.dli_fname, '/');
    *directory = info.dli_fname;
    return slash ? (int)(slash - info.dli_fname) : 0;
}

/* Write DIRECTORY[0..length]SUFFIX/PLUGIN to path.  True: this file exists. */
static bool plugin_exists(char path[static PATH_MAX], const char *directory, int length,
                          const char *suffix, const char *plugin)
{
    int n = snprintf(path, PATH_MAX, "%.*s%s/%s", length, directory, suffix, plugin);

    return n > 0 && n < PATH_MAX && access(path, R_OK) == 0;
}

/* Find the file of the plugin.  The name alone makes dlopen search the system's directories. */
static void plugin_find(char path[static PATH_MAX], const char *plugin)
{
    const char *chosen = secure_getenv("FILCH_MPI_PLUGIN_DIR");
    const char *library = NULL;
    int length = library_directory(&library);

    if (chosen && plugin_exists(path, chosen, (int)strlen(chosen), "", plugin))
        return;
    if (length > 0 && (plugin_exists(path, library, length, "", plugin) ||
                       plugin_exists(path, library, length, "/filch", plugin)))
        return;
#ifdef FI_MPI_PLUGIN_DIR
    if (plugin_exists(path, FI_MPI_PLUGIN_DIR, (int)strlen(FI_MPI_PLUGIN_DIR), "", plugin))
        return;
#endif
    snprintf(path, PATH_MAX, "%s", plugin);
}

/* UCX, which MPI libraries use, installs handlers of these signals when it is loaded.  Keep
 * those of the program, such as the detection of stack overflows. */
static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

enum { N_FAULT_SIGNALS = sizeof fault_signals / sizeof fault_signals[0] };

static void handlers_save(struct sigaction handlers[static N_FAULT_SIGNALS])
{
    for (int i = 0; i < N_FAULT_SIGNALS; i++)
        sigaction(fault_signals[i], NULL, &handlers[i]);
}

static void handlers_restore(const struct sigaction handlers[static N_FAULT_SIGNALS])
{
    for (int i = 0; i < N_FAULT_SIGNALS; i++)
        if ((handlers[i].sa_flags & SA_SIGINFO) || handlers[i].sa_handler != SIG_DFL)
            sigaction(fault_signals[i], &handlers[i], NULL);
}

/* RTLD_GLOBAL: Open MPI loads plugins of its own, which look for its symbols there. */
static void *plugin_open(const char *path)
{
    struct sigaction handlers[N_FAULT_SIGNALS];
    void *file;

    handlers_save(handlers);
    file = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    handlers_restore(handlers);
    return file;
}

static const fi_transport *plugin_load(const launcher *l)
{
    char path[PATH_MAX];
    void *file;
    const fi_transport *t;

    plugin_find(path, l->plugin);
    file = plugin_open(path);
    if (!file) {
        fi_report(FILCH_LEVEL_ERROR,
                  CALLER ": a launcher of %s started this process, but %s cannot be loaded (%s); "
                         "install it, or set FILCH_MPI_PLUGIN_DIR to its directory",
                  l->name, l->plugin, dlerror());
        return NULL;
    }
    t = dlsym(file, FI_TRANSPORT_SYMBOL);
    if (t && t->version == FI_TRANSPORT_VERSION)
        return t;
    fi_report(FILCH_LEVEL_ERROR,
              CALLER ": %s is a plugin of another version of Filch (%u, expected %u); install the "
                     "plugin of this version",
              path, t ? t->version : 0, FI_TRANSPORT_VERSION);
    dlclose(file);
    return NULL;
}

/* There is no fallback to one rank: N processes would each do all the work, without a message. */
static int transport_load(const launcher *l, const fi_transport **transport,
                          fi_transport_config *config)
{
    const fi_transport *t = plugin_load(l);

    if (!t)
        return -ENOENT;
    *transport = t;
    config->launched_ranks = launcher_ranks(l);
    config->launched_rank = number_parse(secure_getenv(l->rank_variable), -1);
    return 0;
}

static void report_error(const char *text)
{
    fi_report(FILCH_LEVEL_ERROR, "%s", text);
}

static int transport_refuse(const char *name)
{
    if (strcmp(name, "mpi") == 0)
        fi_report(FILCH_LEVEL_ERROR, CALLER ": transport 'mpi' needs an MPI launcher; start the "
                                            "program with mpirun, or use transport 'auto'");
    else
        fi_report(FILCH_LEVEL_ERROR,
                  CALLER ": unknown transport ('%s'); use 'auto', 'one' or 'mpi'", name);
    return -EINVAL;
}

int fi_transport_choose(const char *name, const fi_transport **transport,
                        fi_transport_config *config)
{
    bool is_auto = strcmp(name, "auto") == 0;
    const launcher *l = launcher_find();

    config->report = report_error;
    if (l && (is_auto || strcmp(name, "mpi") == 0))
        return transport_load(l, transport, config);
    if (!is_auto && strcmp(name, "one") != 0)
        return transport_refuse(name);
    *transport = &fi_transport_one;
    config->launched_ranks = 1;
    config->launched_rank = 0;
    return 0;
}

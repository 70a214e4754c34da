/* du: adds up the sizes of all files below a directory, on one process or on all ranks of an MPI job.
 * It shows a pool of items of different sizes: an item is the path of a directory, and its handler
 * pushes the subdirectories.  All ranks must see the same file system.
 *
 *     $ ./du /usr/include          (or: mpirun -n 4 ./du /usr/include)
 *     312991744 bytes, 22830 files, 2060 directories
 *
 * The sum of the disk usage is that of `du -sl --block-size=1`, and with -a, of the sizes of all
 * regular files and symbolic links.  A file with several hard links counts once per link.  Symbolic
 * links are not followed.  What cannot be read is reported; then the exit status is 1. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getopt, DT_DIR */
#endif
#include <filch/cluster.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] = "usage: du [-a] DIRECTORY\n"
                            "  -a  add the apparent sizes of files, not their disk usage\n";

typedef struct total {
    uint64_t bytes, files, directories, errors;
} total;

typedef struct visit {
    filch_pool *pool;
    const char *directory;
    total *sum;
    bool is_apparent;
} visit;

static void report(visit *v, const char *name)
{
    fprintf(stderr, "du: %s%s%s: %s\n", v->directory, *name ? "/" : "", name, strerror(errno));
    v->sum->errors++;
}

static void add_file(visit *v, const struct stat *s)
{
    bool has_size = S_ISREG(s->st_mode) || S_ISLNK(s->st_mode);

    if (!v->is_apparent)
        v->sum->bytes += (uint64_t)s->st_blocks * 512;
    else if (has_size)
        v->sum->bytes += (uint64_t)s->st_size;
    *(S_ISDIR(s->st_mode) ? &v->sum->directories : &v->sum->files) += 1;
}

/* The handler of the subdirectory adds its size. */
static int push_directory(visit *v, const char *name)
{
    size_t size = strlen(v->directory) + strlen(name) + 2;
    char path[size];

    snprintf(path, size, "%s/%s", v->directory, name);
    return filch_pool_push(v->pool, path, size);
}

static int visit_entry(visit *v, int directory, const struct dirent *entry)
{
    struct stat s;

    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return 0;
    if (entry->d_type == DT_DIR)
        return push_directory(v, entry->d_name);
    if (fstatat(directory, entry->d_name, &s, AT_SYMLINK_NOFOLLOW) < 0)
        report(v, entry->d_name);
    else if (S_ISDIR(s.st_mode))
        return push_directory(v, entry->d_name);
    else
        add_file(v, &s);
    return 0;
}

static int visit_entries(visit *v)
{
    DIR *stream = opendir(v->directory);
    const struct dirent *entry;
    int e = 0;

    if (!stream) {
        report(v, "");
        return 0;
    }
    while (errno = 0, e == 0 && (entry = readdir(stream)) != NULL)
        e = visit_entry(v, dirfd(stream), entry);
    if (e == 0 && errno != 0)
        report(v, "");
    closedir(stream);
    return e;
}

/* An item is a path with its final 0.  The first one may be a file. */
static int visit_path(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    visit v = {pool, item, acc, *(const bool *)ctx};
    struct stat s;

    (void)size;
    if (lstat(v.directory, &s) < 0) {
        report(&v, "");
        return 0;
    }
    add_file(&v, &s);
    return S_ISDIR(s.st_mode) ? visit_entries(&v) : 0;
}

static void add(void *acc, const void *other, void *ctx)
{
    total *t = acc;
    const total *o = other;

    (void)ctx;
    t->bytes += o->bytes;
    t->files += o->files;
    t->directories += o->directories;
    t->errors += o->errors;
}

static int run(const char *directory, bool is_apparent, total *sum)
{
    const filch_pool_type type = {.handle = visit_path, .acc_size = sizeof *sum, .combine = add};
    filch_item root = {directory, strlen(directory) + 1};

    return filch_cluster_pool(&type, &root, filch_cluster_rank() == 0, sum, &is_apparent);
}

static void print(const total *sum)
{
    printf("%llu bytes, %llu files, %llu directories\n", (unsigned long long)sum->bytes,
           (unsigned long long)sum->files, (unsigned long long)sum->directories);
    if (sum->errors > 0)
        fprintf(stderr, "du: errors: %llu\n", (unsigned long long)sum->errors);
}

int main(int argc, char **argv)
{
    bool is_apparent = false;
    total sum = {0};

    for (int option; (option = getopt(argc, argv, "ah")) != -1;) {
        if (option == 'h')
            return fputs(usage, stdout) < 0;
        if (option == '?')
            return 2;
        is_apparent = true;
    }
    if (optind != argc - 1) {
        fputs(usage, stderr);
        return 2;
    }
    int e = filch_cluster_start(NULL);
    if (e == 0)
        e = run(argv[optind], is_apparent, &sum);
    if (e == 0 && filch_cluster_rank() == 0)
        print(&sum);
    else if (e < 0)
        fprintf(stderr, "du: %s\n", strerror(-e));
    return filch_cluster_stop() < 0 || e != 0 || sum.errors > 0 || fflush(stdout) != 0;
}

#define _GNU_SOURCE
#include "fault_names.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACRO "FI_PROTOCOL_FAULT("

static bool is_known(const fault_names *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->names[i], name) == 0)
            return true;
    return false;
}

static int name_add(fault_names *list, const char *text)
{
    char name[FAULT_NAME_SIZE];
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.");

    if (n == 0 || n >= sizeof name || text[n] != ')')
        return -EINVAL;
    memcpy(name, text, n);
    name[n] = '\0';
    if (is_known(list, name))
        return 0;
    if (list->n == FAULTS_MAX)
        return -E2BIG;
    memcpy(list->names[list->n++], name, n + 1);
    return 0;
}

static int line_read(const char *line, fault_names *out)
{
    int e = 0;

    for (const char *at = line; e == 0 && (at = strstr(at, MACRO)) != NULL;)
        e = name_add(out, at += strlen(MACRO));
    return e;
}

static int file_read(const char *path, fault_names *out)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    int e = 0;

    if (!file)
        return -errno;
    while (e == 0 && getline(&line, &size, file) >= 0)
        e = line_read(line, out);
    free(line);
    fclose(file);
    return e;
}

static int is_source(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);

    return n > 2 && strcmp(entry->d_name + n - 2, ".c") == 0;
}

int fault_names_read(const char *directory, fault_names *out)
{
    struct dirent **files;
    char path[4096];
    int n = scandir(directory, &files, is_source, alphasort), e = n < 0 ? -errno : 0;

    *out = (fault_names){.n = 0};
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, files[i]->d_name);
        if (e == 0)
            e = file_read(path, out);
        free(files[i]);
    }
    if (n >= 0)
        free(files);
    return e;
}

/* unload PLUGIN WHAT: unload a library while work that it started is left (unload_plugin.c), and
 * load it again. */
#include "victim.h"

#include <dlfcn.h>
#include <stdbool.h>

static void *symbol(void *plugin, const char *name)
{
    void *s = dlsym(plugin, name);

    NEED_PTR(s);
    return s;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    for (int i = 0; i < 5; i++) {
        void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        int (*leave)(const char *);
        long (*count)(void);
        void *s;

        NEED_PTR(plugin);
        s = symbol(plugin, "plugin_leave");
        memcpy(&leave, &s, sizeof leave);
        s = symbol(plugin, "plugin_count");
        memcpy(&count, &s, sizeof count);
        MUST(leave(argv[2]) == 0);
        MUST(count() == 64);
        MUST(dlclose(plugin) == 0);
        usleep(20000);
    }
    puts("right");
    return 0;
}

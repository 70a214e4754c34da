#include <filch/version.h>

/* [any] */
const char *filch_version(void)
{
    return FILCH_VERSION;
}

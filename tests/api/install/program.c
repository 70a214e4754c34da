/* What a user's first program looks like to the build: the public headers, and a call that needs
 * whatever the library itself was linked with. */
#include <filch/filch.h>

#include <stdio.h>

int main(void)
{
    puts(filch_version());
    return filch_cpu_count() >= 1 ? 0 : 1;
}

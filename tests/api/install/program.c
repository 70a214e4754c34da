/* A small program of a user: includes the public headers and calls the library. */
#include <filch/filch.h>

#include <stdio.h>

int main(void)
{
    puts(filch_version());
    return filch_cpu_count() >= 1 ? 0 : 1;
}

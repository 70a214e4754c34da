/* A second file of a serial program. */
#include <filch/filch.h>

int other_file_start(void);

int other_file_start(void)
{
    return filch_start(NULL);
}

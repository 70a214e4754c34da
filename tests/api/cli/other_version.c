/* A program with the note of another version of Filch.  It waits until standard input ends. */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

extern const uint32_t other_layout[4];
__attribute__((used, visibility("hidden"))) const uint32_t other_layout[4] = {99, 0, 0, 0};

__asm__(".pushsection .note.filch, \"a\", %note\n\t"
        ".balign 4\n\t"
        ".long 6, 8, 1\n\t"
        ".asciz \"Filch\"\n\t"
        ".balign 4\n\t"
        ".quad other_layout - .\n\t"
        ".popsection");

int main(void)
{
    char byte;

    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    return 0;
}

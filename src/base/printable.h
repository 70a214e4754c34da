/* Text of the program or of its environment in messages and reports: names, and values of settings.
 * A control character in it could end the line, or change the state of a terminal. */
#ifndef FI_BASE_PRINTABLE_H
#define FI_BASE_PRINTABLE_H

/* [any, async-signal-safe] The character itself; '?' for a control character.  Bytes above 127 are
 * parts of UTF-8 characters. */
static inline char fi_printable(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f ? '?' : c;
}

/* [any, async-signal-safe] Replace the control characters of a string. */
static inline void fi_make_printable(char *text)
{
    for (; *text; text++)
        *text = fi_printable(*text);
}

#endif

/* Escape text for HTML and XML. */
#ifndef CLI_LAB_ESCAPE_H
#define CLI_LAB_ESCAPE_H

#include <stdio.h>

/* Write text for element content or a quoted attribute. */
void escape(FILE *out, const char *text);

#endif

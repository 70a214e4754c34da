/* As much of JSON as the programs print: one object in a line. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* Is text one object, and nothing after it but white space? */
bool json_is_object(const char *text);

/* The following take values of a text for which that is so. */

/* The value of the member, or NULL. */
const char *json_member(const char *object, const char *name);

/* Walk over the members of an object or the elements of an array: NULL at the end.  begin: the
 * first one; next: the one after.  A member begins with its name. */
const char *json_begin(const char *many);
const char *json_next(const char *one);

/* The value of a member that json_begin or json_next gave. */
const char *json_value(const char *member);

/* The text between the quotes; false: not a string, or longer than the buffer.
 * Escapes are decoded. */
bool json_string(const char *value, char *out, size_t capacity);
bool json_number(const char *value, double *out);

#endif

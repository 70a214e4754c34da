/* Checks text that comes from another process, before it becomes part of a JSON document. */
#ifndef FI_CLUSTER_JSON_CHECK_H
#define FI_CLUSTER_JSON_CHECK_H

#include <stdbool.h>

/* [any] Is the text exactly one JSON object, with valid UTF-8 and without white space between its
 * parts? */
bool fi_json_is_object(const char *text, const char *end);

#endif

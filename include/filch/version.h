/* The version of Filch, and macros that all public headers use.
 *
 *     #include <filch/version.h>
 *     #include <stdio.h>
 *     #include <string.h>
 *
 *     int main(void)
 *     {
 *         printf("compiled with %s, running with %s\n", FILCH_VERSION, filch_version());
 *         return strcmp(FILCH_VERSION, filch_version()) == 0 ? 0 : 1;
 *     }
 *
 * The three numbers below are the only definition of the version.  The build, filch.pc and the
 * CMake package read them from here.
 */
#ifndef FILCH_VERSION_H
#define FILCH_VERSION_H

#define FILCH_VERSION_MAJOR 0
#define FILCH_VERSION_MINOR 1
#define FILCH_VERSION_PATCH 0

/* One number that grows with every version, for #if. */
#define FILCH_VERSION_NUMBER                                                                       \
    (FILCH_VERSION_MAJOR * 10000 + FILCH_VERSION_MINOR * 100 + FILCH_VERSION_PATCH)

/* The version as a string, "major.minor.patch".  Two macros, so that the numbers are expanded
 * first. */
#define FILCH_VERSION_QUOTE_(a, b, c) #a "." #b "." #c
#define FILCH_VERSION_JOIN_(a, b, c)  FILCH_VERSION_QUOTE_(a, b, c)
#define FILCH_VERSION                                                                              \
    FILCH_VERSION_JOIN_(FILCH_VERSION_MAJOR, FILCH_VERSION_MINOR, FILCH_VERSION_PATCH)

/* A symbol that the library exports.  All other symbols are hidden.  A serial build does not use
 * the library, so the compiler reports a call of one. */
#if defined FILCH_SERIAL
#define FILCH_API __attribute__((error("this function needs the library, without FILCH_SERIAL")))
#elif defined __GNUC__
#define FILCH_API __attribute__((visibility("default")))
#else
#define FILCH_API
#endif

/* These enclose the declarations of a header, and give them C linkage in C++. */
#ifdef __cplusplus
#define FILCH_BEGIN_DECLS extern "C" {
#define FILCH_END_DECLS   }
#else
#define FILCH_BEGIN_DECLS
#define FILCH_END_DECLS
#endif

/* The initialiser of a field in a struct of attributes.  In C++, = {0} would otherwise warn that
 * the other fields are missing. */
#ifdef __cplusplus
#define FILCH_ZERO_ = {}
#else
#define FILCH_ZERO_
#endif

FILCH_BEGIN_DECLS

/* Get the version of the library at run time, which may be newer than that of the header.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: a constant string, such as "0.1.0". */
#ifdef FILCH_SERIAL
static inline const char *filch_version(void)
{
    return FILCH_VERSION;
}
#else
FILCH_API const char *filch_version(void);
#endif

FILCH_END_DECLS

#endif

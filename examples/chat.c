/* A chat server.  A fiber reads each client's lines, another writes what it is to hear, and one hub in the middle knows who
 * is there: all else goes through channels, so there is no lock. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getopt, shutdown */
#endif
#include "server.h"

#include <filch/filch.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Messages that a test has received, one line each. */
#ifndef TESTS_CLUSTER_MESSAGES_H
#define TESTS_CLUSTER_MESSAGES_H

#include "check.h"

#include <filch/message.h>

static char messages[1 << 16];
static int n_messages;

static void keep_message(filch_level level, const char *text, void *ctx)
{
    size_t n = strlen(messages);

    (void)level;
    (void)ctx;
    n_messages++;
    snprintf(messages + n, sizeof messages - n, "%s\n", text);
}

static inline void messages_reset(void)
{
    messages[0] = '\0';
    n_messages = 0;
    filch_set_message_handler(keep_message, NULL);
}

#endif

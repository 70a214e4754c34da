/* The middle of the chat: a fiber that knows who is there.  All others talk to it through channels. */
#ifndef EXAMPLES_CHAT_HUB_H
#define EXAMPLES_CHAT_HUB_H

#include <filch/chan.h>
#include <filch/sync.h>

#include <stdatomic.h>

#define CHAT_NAME   16  /* letters of a name */
#define CHAT_TEXT   200 /* bytes of what somebody says */
#define CHAT_OUTBOX 64  /* lines that somebody may be behind */

typedef struct line {
    size_t n;
    char text[CHAT_NAME + CHAT_TEXT + 40];
} line;

typedef struct member {
    char name[CHAT_NAME + 1];
    int fd;
    filch_chan *outbox; /* of lines; the hub closes it when the member does not listen */
    atomic_bool deaf;   /* nothing can be written to it just now, or ever */
    /* The hub's. */
    struct member *next;
    bool let_in, is_in, slow;
    filch_sem answered;
} member;

/* period: how often to say how many are there, 0: never.  Returns: 0; -ENOMEM. */
int hub_start(int64_t period);

/* When nobody is there any more. */
void hub_stop(void);

/* Returns: true: then it has to leave; false: there is somebody of that name. */
bool hub_join(member *m);

/* A line, or /names. */
void hub_say(member *m, const char *text);

/* After this the hub has forgotten it. */
void hub_leave(member *m);

__attribute__((format(printf, 1, 2))) line hub_line(const char *format, ...);

#endif

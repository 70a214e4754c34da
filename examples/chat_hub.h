/* The hub of the chat server: one fiber that owns the list of members.  The other fibers send it
 * messages through channels. */
#ifndef EXAMPLES_CHAT_HUB_H
#define EXAMPLES_CHAT_HUB_H

#include <filch/chan.h>
#include <filch/sync.h>

#include <stdatomic.h>

#define CHAT_NAME   16  /* max length of a name */
#define CHAT_TEXT   200 /* max length of a line */
#define CHAT_OUTBOX 64  /* max number of unsent lines of a member */

typedef struct line {
    size_t n;
    char text[CHAT_NAME + CHAT_TEXT + 40];
} line;

typedef struct member {
    char name[CHAT_NAME + 1];
    int fd;
    filch_chan *outbox;  /* lines to write; the hub closes it to disconnect the member */
    atomic_bool blocked; /* the writer is blocked in a write, or has ended */
    /* Owned by the hub. */
    struct member *next;
    bool accepted, is_member, slow;
    filch_sem reply;
} member;

/* Start the hub.  It announces the number of members every `period` ns; 0: never.  Returns: 0;
 * -ENOMEM. */
int hub_start(int64_t period);

/* Stop the hub.  All members must have left. */
void hub_stop(void);

/* Returns: true: the member has joined and must leave later; false: the name is taken. */
bool hub_join(member *m);

/* Send a line to all other members, or answer the command /names. */
void hub_say(member *m, const char *text);

/* Leave.  The hub does not use m afterwards. */
void hub_leave(member *m);

__attribute__((format(printf, 1, 2))) line hub_line(const char *format, ...);

#endif

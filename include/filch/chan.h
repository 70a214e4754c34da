/* Channels: items go from who sends to who receives, between fibers and threads in any mix.
 *
 *     #include <filch/chan.h>
 *     #include <filch/fiber.h>
 *     #include <stdio.h>
 *
 *     static void count(void *arg)
 *     {
 *         filch_chan *c = (filch_chan *)arg;
 *         for (int i = 0; i < 3; i++)
 *             filch_chan_send(c, &i);
 *         filch_chan_close(c);
 *     }
 *
 *     int main(void)
 *     {
 *         filch_chan *c = filch_chan_new(sizeof(int), 0);
 *         filch_go(count, c);
 *         for (int i; filch_chan_recv(c, &i) == 0;)
 *             printf("%d\n", i);
 *         filch_chan_free(c);
 *         return 0;
 *     }
 *
 * Items are copied.  A channel keeps up to its capacity of them; of a channel of capacity 0 a sender waits until a
 * receiver takes its item.  Items come out in the order in which they went in, and waiters are served in the order in
 * which they came.
 *
 * Call from: any thread, fiber, task or job.  Blocks: calls that wait, the fiber or the thread.
 *
 * A channel may be NULL.  Calls that return an int then return -EINVAL, and the others do nothing
 * and return 0.  A case of a select whose channel is NULL is never ready.
 */
#ifndef FILCH_CHAN_H
#define FILCH_CHAN_H

#include <filch/time.h>
#include <filch/version.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

FILCH_BEGIN_DECLS

typedef struct filch_chan filch_chan;

/* Items of so many bytes (0: only that something was sent counts).  Returns: NULL when there is no memory. */
FILCH_API filch_chan *filch_chan_new(size_t item_size, size_t capacity);

/* Free the channel and drop the items that are left in it.  NULL is allowed.  A receiver may free
 * the channel as soon as it has the last item or -EPIPE.  The sender to a channel of capacity 0 may
 * free it as soon as its send has returned.  The partner may still be inside its send, receive,
 * select or close then.  No other call for the channel may be under way.  Freeing a channel at
 * which a call waits aborts the program.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_chan_free(filch_chan *c);

/* Close the channel.  Senders that wait and later senders get -EPIPE.  Receivers get the items that
 * were sent, and then -EPIPE with an item of zeros.
 * Returns: 0; -EPIPE when it is closed already; -EINVAL for NULL. */
FILCH_API int filch_chan_close(filch_chan *c);

/* Returns: 0; -EPIPE: closed (a receiver's item is set to zeros); -ECANCELED; -EINVAL: c is NULL;
 * until: -ETIMEDOUT, -ENOMEM; try: -EAGAIN where the other would wait.
 * item NULL: for a receiver, the item is dropped; for a sender, its bytes are zero. */
FILCH_API int filch_chan_send(filch_chan *c, const void *item);
FILCH_API int filch_chan_send_until(filch_chan *c, const void *item, int64_t deadline);
FILCH_API int filch_chan_try_send(filch_chan *c, const void *item);
FILCH_API int filch_chan_recv(filch_chan *c, void *item);
FILCH_API int filch_chan_recv_until(filch_chan *c, void *item, int64_t deadline);
FILCH_API int filch_chan_try_recv(filch_chan *c, void *item);

/* How many items it keeps at the moment, of how many. */
FILCH_API size_t filch_chan_size(filch_chan *c);
FILCH_API size_t filch_chan_capacity(const filch_chan *c);

/* ---- select ---- */

#define FILCH_SELECT_MAX 64

typedef enum filch_case_kind {
    FILCH_CASE_KIND_RECV, /* item: where it goes, or NULL */
    FILCH_CASE_KIND_SEND, /* item: where it is */
} filch_case_kind;

/* A case with chan NULL is never ready. */
typedef struct filch_case {
    filch_case_kind kind;
    filch_chan *chan;
    void *item;
    int result; /* of the case that was chosen: 0; -EPIPE: its channel is closed */
} filch_case;

/* clang-format off */
#define FILCH_CASE_RECV(chan, item) {FILCH_CASE_KIND_RECV, (chan), (item), 0}
#define FILCH_CASE_SEND(chan, item) {FILCH_CASE_KIND_SEND, (chan), (void *)(item), 0}
/* clang-format on */

/* Do one of the cases, as soon as one can be done.  If several can, one is chosen at random, also
 * among cases of the same channel.  The other channels must not be freed until the call returns.
 * Returns: its index, with its result in place; -ECANCELED; -EINVAL for more than FILCH_SELECT_MAX; -ENOMEM, for more than 8 that wait.
 * filch_select_until: also -ETIMEDOUT, and -ENOMEM for the deadline.  filch_try_select: -EAGAIN where the others would wait. */
FILCH_API int filch_select(filch_case *cases, size_t n);
FILCH_API int filch_select_until(filch_case *cases, size_t n, int64_t deadline);
FILCH_API int filch_try_select(filch_case *cases, size_t n);

FILCH_END_DECLS

#endif

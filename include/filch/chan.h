/* Channels pass items between fibers and threads in any mix.
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
 * Items are copied.  A channel buffers up to its capacity.  With capacity 0, a sender waits until a
 * receiver takes the item.  Items arrive in the order in which they were sent, and waiters are
 * served in FIFO order.
 *
 * For a channel that is NULL, the calls that send, receive or close return -EINVAL, and a message
 * names the call.  The other calls do nothing and return 0.  A case of a select whose channel is
 * NULL is never ready.
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

/* Create a channel.
 * item_size: bytes of an item.  With 0, only the number of items counts.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: the channel; NULL: there is no memory, or capacity is too large, and then a message says
 *     so. */
FILCH_API filch_chan *filch_chan_new(size_t item_size, size_t capacity);

/* Free the channel and drop the items that are left in it.  NULL is allowed.  A receiver may free
 * the channel as soon as it has the last item or -EPIPE.  The sender to a channel of capacity 0 may
 * free it as soon as its send has returned.  The partner may still be inside its send, receive,
 * select or close then.  No other call for the channel may be running.  Freeing a channel at
 * which a call waits aborts the program.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_chan_free(filch_chan *c);

/* Close the channel.  Current and later senders get -EPIPE.  Receivers get the items that were
 * sent, and then -EPIPE.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0: the channel is closed now.
 *     -EPIPE: it was closed already.
 *     -EINVAL: c is NULL. */
FILCH_API int filch_chan_close(filch_chan *c);

/* Send an item, and wait while the channel is full.
 * item: NULL sends zeros.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0: the item was sent.
 *     -EPIPE: the channel is closed.
 *     -ECANCELED: the fiber was cancelled.
 *     -EINVAL: c is NULL.
 *     -ETIMEDOUT: filch_chan_send_until: the deadline passed.
 *     -ENOMEM: filch_chan_send_until: no memory to wait with a deadline. */
FILCH_API int filch_chan_send(filch_chan *c, const void *item);
FILCH_API int filch_chan_send_until(filch_chan *c, const void *item, int64_t deadline);

/* Send an item if that needs no wait.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0: the item was sent.
 *     -EAGAIN: the channel is full, or has capacity 0 and no receiver waits.
 *     -EPIPE: the channel is closed.
 *     -EINVAL: c is NULL. */
FILCH_API int filch_chan_try_send(filch_chan *c, const void *item);

/* Receive an item, and wait while the channel is empty.
 * item: NULL drops the item.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0: an item was received.
 *     -EPIPE: the channel is closed and empty.  *item is set to zeros.
 *     -ECANCELED: the fiber was cancelled.
 *     -EINVAL: c is NULL.
 *     -ETIMEDOUT: filch_chan_recv_until: the deadline passed.
 *     -ENOMEM: filch_chan_recv_until: no memory to wait with a deadline. */
FILCH_API int filch_chan_recv(filch_chan *c, void *item);
FILCH_API int filch_chan_recv_until(filch_chan *c, void *item, int64_t deadline);

/* Receive an item if that needs no wait.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0: an item was received.
 *     -EAGAIN: the channel is empty.
 *     -EPIPE: the channel is closed and empty.  *item is set to zeros.
 *     -EINVAL: c is NULL. */
FILCH_API int filch_chan_try_recv(filch_chan *c, void *item);

/* Get the number of buffered items (size) and its limit (capacity).
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: the number of items; 0: c is NULL. */
FILCH_API size_t filch_chan_size(filch_chan *c);
FILCH_API size_t filch_chan_capacity(const filch_chan *c);

/* ---- select ---- */

#define FILCH_SELECT_MAX 64

typedef enum filch_case_kind {
    FILCH_CASE_KIND_RECV, /* item: where to store it, or NULL */
    FILCH_CASE_KIND_SEND, /* item: what to send */
} filch_case_kind;

/* One send or receive of a select.  A case whose chan is NULL is never ready. */
typedef struct filch_case {
    filch_case_kind kind;
    filch_chan *chan;
    void *item;
    int result; /* set in the chosen case: 0, or -EPIPE if its channel is closed */
} filch_case;

/* clang-format off */
#define FILCH_CASE_RECV(chan, item) {FILCH_CASE_KIND_RECV, (chan), (item), 0}
#define FILCH_CASE_SEND(chan, item) {FILCH_CASE_KIND_SEND, (chan), (void *)(item), 0}
/* clang-format on */

/* Perform one of n cases, and wait until one is ready.  If several are ready, one is chosen at
 * random, also among cases of the same channel.  The channels of the other cases must not be freed
 * until the call returns.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: the index of the chosen case, whose result is set.
 *     -ECANCELED: the fiber was cancelled.
 *     -EINVAL: n is larger than FILCH_SELECT_MAX, cases is NULL, or the kind of a case is wrong.
 *     -ENOMEM: no memory to wait with more than 8 cases or with a deadline.
 *     -ETIMEDOUT: filch_select_until: the deadline passed. */
FILCH_API int filch_select(filch_case *cases, size_t n);
FILCH_API int filch_select_until(filch_case *cases, size_t n, int64_t deadline);

/* Perform one of n cases if one is ready.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: the index of the chosen case, whose result is set.
 *     -EAGAIN: no case is ready.
 *     -EINVAL: n is larger than FILCH_SELECT_MAX, cases is NULL, or the kind of a case is wrong. */
FILCH_API int filch_try_select(filch_case *cases, size_t n);

FILCH_END_DECLS

#endif

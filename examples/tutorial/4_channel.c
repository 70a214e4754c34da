/* Step 4: fibers and channels.  A chain of fibers finds the prime numbers up to 30.  Each fiber has
 * a prime, and drops the numbers that the prime divides. */
#include <filch/filch.h>
#include <stdio.h>

enum { N = 30 };
static struct filter {
    filch_chan *in, *out;
    int prime;
} filters[N];

static void count(void *out)
{
    for (int n = 2; n <= N; n++)
        filch_chan_send(out, &n);
    filch_chan_close(out);
}

static void run_filter(void *arg)
{
    struct filter *f = arg;
    for (int n; filch_chan_recv(f->in, &n) == 0;)
        if (n % f->prime != 0)
            filch_chan_send(f->out, &n);
    filch_chan_free(f->in);
    filch_chan_close(f->out);
}

int main(void)
{
    filch_chan *c = filch_chan_new(sizeof(int), 0);
    filch_go(count, c);
    for (struct filter *f = filters; filch_chan_recv(c, &f->prime) == 0; f++) {
        printf("%d\n", f->prime);
        f->in = c;
        c = f->out = filch_chan_new(sizeof(int), 0);
        filch_go(run_filter, f);
    }
    return filch_chan_free(c), filch_stop();
}

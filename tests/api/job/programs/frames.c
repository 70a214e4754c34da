/* The loop of a game: each frame is a graph of jobs, and the last job draws in the main thread. */
#include <filch/job.h>
#include <pthread.h>
#include <stdio.h>

static pthread_t main_thread;
static int drawn_here, moved;

static void move(void *arg)
{
    (void)arg;
    moved++;
}

static void draw(void *arg)
{
    (void)arg;
    if (pthread_equal(pthread_self(), main_thread))
        drawn_here++;
}

int main(void)
{
    filch_pump pump = FILCH_PUMP_INIT;
    int frames = 0;

    main_thread = pthread_self();
    for (; frames < 100; frames++) {
        filch_job *m = filch_job_new(move, NULL), *d = filch_job_new(draw, NULL);
        filch_job_set_pump(d, &pump);
        filch_job_after(d, m);
        filch_job_submit(m);
        filch_job_release(m);
        filch_job_submit(d);
        if (filch_pump_wait(&pump, d) != 0)
            return 1;
    }
    printf("%d frames, %d drawn here\n", frames, drawn_here);
    return moved == frames ? 0 : 1;
}

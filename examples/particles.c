/* particles: a particle simulation on a torus.  It shows a graph of jobs, child jobs, a pump, loops
 * and a reduction.  Each frame is a graph:
 *
 *     locate ──> list ──> push ──> move ──┬──> draw, in the main thread
 *                                         └──> measure
 *
 * push has many children; locate, move and measure are loops.  The result does not depend on the
 * number of workers.
 */
#include <filch/filch.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "usage: particles [-n PARTICLES] [-f FRAMES] [-q]\n"
                            "  -n  number of particles, 100 to 1000000 (2000)\n"
                            "  -f  number of frames, 1 to 1000000 (100)\n"
                            "  -q  do not draw; print only the energy at the end\n";

#define COLUMNS 72
#define ROWS    24
#define STEP    0.02 /* time step */
#define BANDS   64   /* number of groups of particles */

typedef struct particle {
    double x, y, vx, vy, fx, fy; /* coordinates are in [0, side) */
    double potential;
    size_t cell;
} particle;

typedef struct world {
    particle *particles;
    size_t n;
    size_t cells;  /* per side; particles repel only those of the 9 nearest cells */
    size_t *first; /* index in `order` of each cell's first particle; n at the end */
    size_t *order; /* particle numbers, sorted by cell */
    double side, energy;
    filch_job *pushing;
    struct band {
        struct world *world;
        size_t lo, hi;
    } bands[BANDS];
} world;

static void *check_memory(void *memory)
{
    if (memory)
        return memory;
    fputs("particles: out of memory\n", stderr);
    exit(1);
}

static void locate_some(size_t lo, size_t hi, void *ctx)
{
    const world *w = ctx;
    double size = w->side / (double)w->cells;

    for (particle *p = &w->particles[lo]; p < &w->particles[hi]; p++)
        p->cell = (size_t)(p->y / size) % w->cells * w->cells + (size_t)(p->x / size) % w->cells;
}

static void locate(void *arg)
{
    filch_for(0, ((world *)arg)->n, 0, locate_some, arg);
}

/* Sort the particles by cell.  Within a cell they keep their order, so that sums are
 * reproducible. */
static void list(void *arg)
{
    world *w = arg;
    size_t cells = w->cells * w->cells;

    memset(w->first, 0, (cells + 1) * sizeof *w->first);
    for (size_t i = 0; i < w->n; i++)
        w->first[w->particles[i].cell]++;
    for (size_t c = 1; c <= cells; c++)
        w->first[c] += w->first[c - 1];
    for (size_t i = w->n; i-- > 0;)
        w->order[--w->first[w->particles[i].cell]] = i;
}

/* The shortest distance from a to b on the torus. */
static double shortest(double a, double b, double side)
{
    double d = b - a;

    return d > side / 2 ? d - side : d < -side / 2 ? d + side : d;
}

/* Particles closer than 1 repel each other; the force grows as they approach. */
static void push_one(const world *w, particle *p, const particle *q)
{
    double dx = shortest(q->x, p->x, w->side), dy = shortest(q->y, p->y, w->side);
    double d = sqrt(dx * dx + dy * dy);

    if (d >= 1 || d == 0)
        return;
    p->fx += (1 - d) * dx / d;
    p->fy += (1 - d) * dy / d;
    p->potential += (1 - d) * (1 - d) / 4; /* half of it; the other particle has the other half */
}

static void push_band(void *arg)
{
    const struct band *b = arg;
    const world *w = b->world;

    for (particle *p = &w->particles[b->lo]; p < &w->particles[b->hi]; p++) {
        size_t row = p->cell / w->cells + w->cells - 1, column = p->cell % w->cells + w->cells - 1;

        p->fx = p->fy = p->potential = 0;
        for (size_t near = 0; near < 9; near++) {
            size_t cell = (row + near / 3) % w->cells * w->cells + (column + near % 3) % w->cells;
            for (size_t k = w->first[cell]; k < w->first[cell + 1]; k++)
                push_one(w, p, &w->particles[w->order[k]]);
        }
    }
}

static void push(void *arg)
{
    world *w = arg;

    for (size_t i = 0; i < BANDS; i++) {
        w->bands[i] = (struct band){w, w->n * i / BANDS, w->n * (i + 1) / BANDS};
        if (filch_group_run(filch_job_child_group(w->pushing), push_band, &w->bands[i]) < 0)
            push_band(&w->bands[i]);
    }
}

static double wrap(double x, double side)
{
    return x < 0 ? x + side : x >= side ? x - side : x;
}

static void move_some(size_t lo, size_t hi, void *ctx)
{
    const world *w = ctx;

    for (particle *p = &w->particles[lo]; p < &w->particles[hi]; p++) {
        p->vx += p->fx * STEP;
        p->vy += p->fy * STEP;
        p->x = wrap(p->x + p->vx * STEP, w->side);
        p->y = wrap(p->y + p->vy * STEP, w->side);
    }
}

static void move(void *arg)
{
    filch_for(0, ((world *)arg)->n, 0, move_some, arg);
}

static void add_energy(size_t lo, size_t hi, void *acc, void *ctx)
{
    const world *w = ctx;

    for (const particle *p = &w->particles[lo]; p < &w->particles[hi]; p++)
        *(double *)acc += (p->vx * p->vx + p->vy * p->vy) / 2 + p->potential;
}

static void add(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(double *)acc += *(const double *)other;
}

static void measure(void *arg)
{
    world *w = arg;
    const double zero = 0;

    w->energy = 0;
    filch_reduce(0, w->n, 0, &w->energy, &zero, sizeof zero, add_energy, add, w);
}

static void draw(void *arg)
{
    const world *w = arg;
    char picture[ROWS][COLUMNS];

    memset(picture, ' ', sizeof picture);
    for (const particle *p = w->particles; p < w->particles + w->n; p++)
        picture[(size_t)(p->y / w->side * ROWS) % ROWS]
               [(size_t)(p->x / w->side * COLUMNS) % COLUMNS] =
                   p->vx * p->vx + p->vy * p->vy < 0.1 ? '.' : 'o';
    for (size_t y = 0; y < ROWS; y++)
        printf("%.*s\n", COLUMNS, picture[y]);
    putchar('\n');
}

static void nothing(void *arg)
{
    (void)arg;
}

static filch_job *job_after(filch_job *before, void (*work)(void *arg), world *w)
{
    filch_job *j = check_memory(filch_job_new(work, w));

    if (before && filch_job_after(j, before) < 0)
        check_memory(NULL);
    return j;
}

static filch_pump screen = FILCH_PUMP_INIT;

/* The group owns the jobs of a frame, except for the last one, which the pump waits for. */
static void run_frame(world *w, int quiet)
{
    filch_job *located = job_after(NULL, locate, w);
    filch_job *listed = job_after(located, list, w);
    filch_job *pushed = w->pushing = job_after(listed, push, w);
    filch_job *moved = job_after(pushed, move, w);
    filch_job *drawn = job_after(moved, quiet ? nothing : draw, w);
    filch_job *measured = job_after(moved, measure, w);
    filch_job *frame = job_after(drawn, nothing, w);
    filch_job *members[] = {located, listed, pushed, moved, drawn, measured, NULL};
    filch_group g = FILCH_GROUP_INIT;

    if (filch_job_after(frame, measured) < 0)
        check_memory(NULL);
    filch_job_set_pump(drawn, &screen);
    for (filch_job **j = members; *j; j++) {
        filch_job_set_group(*j, &g);
        filch_job_submit(*j);
    }
    filch_job_submit(frame);
    filch_pump_wait(&screen, frame);
    filch_group_wait(&g);
}

/* Place all particles in the upper half, with pseudo-random velocities from a fixed seed. */
static void fill(world *w)
{
    uint64_t random = 42;
    double at[4];

    for (size_t i = 0; i < w->n; i++) {
        for (int k = 0; k < 4; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            at[k] = (double)(random >> 11) / 9007199254740992.0;
        }
        w->particles[i] = (particle){
            .x = at[0] * w->side, .y = at[1] * w->side / 2, .vx = at[2] - 0.5, .vy = at[3] - 0.5};
    }
}

static size_t number(const char *text, size_t min, size_t max)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    if (*text >= '0' && *text <= '9' && !*end && n >= min && n <= max)
        return n;
    fprintf(stderr, "particles: '%s' is not a number from %zu to %zu\n", text, min, max);
    exit(2);
}

int main(int argc, char **argv)
{
    world w = {.n = 2000};
    size_t frames = 100;
    int quiet = 0;
    double at_first = 0;

    for (int option; (option = getopt(argc, argv, "hqn:f:")) != -1;) {
        if (option == 'h')
            return fputs(usage, stdout) < 0;
        if (option == '?')
            return 2;
        if (option == 'n')
            w.n = number(optarg, 100, 1000000);
        if (option == 'f')
            frames = number(optarg, 1, 1000000);
        quiet |= option == 'q';
    }
    if (optind < argc) {
        fprintf(stderr, "particles: '%s' is one argument too many\n", argv[optind]);
        return 2;
    }
    w.side = sqrt((double)w.n);
    w.cells = (size_t)w.side;
    w.particles = check_memory(calloc(w.n, sizeof *w.particles));
    w.first = check_memory(calloc(w.cells * w.cells + 1, sizeof *w.first));
    w.order = check_memory(calloc(w.n, sizeof *w.order));
    fill(&w);
    for (size_t i = 0; i < frames; i++) {
        run_frame(&w, quiet);
        at_first = i == 0 ? w.energy : at_first;
    }
    printf("%zu particles, energy %.9f, initially %.9f\n", w.n, w.energy, at_first);
    free(w.particles);
    free(w.first);
    free(w.order);
    return fflush(stdout) != 0;
}

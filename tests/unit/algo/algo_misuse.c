/* Wrong arguments are refused, and a message names the function and the argument. */
#include "check.h"

#include <filch/filch.h>

#include <errno.h>

static char last[256];

static void keep_message(filch_level level, const char *text, void *ctx)
{
    (void)level, (void)ctx;
    snprintf(last, sizeof last, "%s", text);
}

static void map(size_t lo, size_t hi, void *acc, void *ctx)
{
    (void)lo, (void)hi, (void)acc, (void)ctx;
    abort();
}

static int fallible_map(size_t lo, size_t hi, void *acc, void *ctx)
{
    map(lo, hi, acc, ctx);
    return 0;
}

static void combine(void *acc, const void *other, void *ctx)
{
    (void)acc, (void)other, (void)ctx;
    abort();
}

static int fallible_body(size_t lo, size_t hi, void *ctx)
{
    map(lo, hi, NULL, ctx);
    return 0;
}

static void tile_body(const filch_tile *tile, void *ctx)
{
    (void)tile;
    fallible_body(0, 0, ctx);
}

static void body(size_t lo, size_t hi, void *ctx)
{
    fallible_body(lo, hi, ctx);
}

static void function(void)
{
    abort();
}

static void ctx_function(void *ctx)
{
    (void)ctx;
    abort();
}

static void check_message(const char *start)
{
    if (strncmp(last, start, strlen(start)) != 0)
        fprintf(stderr, "message: %s\n", last);
    CHECK(strncmp(last, start, strlen(start)) == 0);
    last[0] = '\0';
}

static void check_invalid(int e, const char *start)
{
    CHECK_INT(e, -EINVAL);
    check_message(start);
}

static void wrong_loops(void **state)
{
    const filch_tile all = {0, 9, 0, 9};

    (void)state;
    filch_set_message_handler(keep_message, NULL);
    filch_for(0, 9, 1, NULL, NULL);
    check_message("filch_for: body is NULL; pass a function");
    filch_for_tiles(NULL, 1, 1, tile_body, NULL);
    check_message("filch_for_tiles: all is NULL; pass the rectangle");
    filch_for_tiles(&all, 1, 1, NULL, NULL);
    check_message("filch_for_tiles: body is NULL");
    check_invalid(filch_for_fallible(0, 9, 1, NULL, NULL), "filch_for_fallible: body is NULL");
    filch_for(9, 9, 1, body, NULL);
    CHECK_INT(filch_for_fallible(9, 9, 1, fallible_body, NULL), 0);
    CHECK_STR(last, "");
}

static void functions_that_are_null(void **state)
{
    void (*none)(void) = NULL;
    void (*ctx_none)(void *ctx) = NULL;

    (void)state;
    filch_invoke(function, none, function);
    check_message("filch_invoke: function 1 is NULL; pass a function");
    filch_invoke_with(NULL, ctx_none, ctx_function);
    check_message("filch_invoke_with: function 0 is NULL; pass a function");
}

static void values_too_large(void **state)
{
    static char v[FILCH_REDUCE_MAX + 1];

    (void)state;
    filch_set_message_handler(keep_message, NULL);
    check_invalid(filch_reduce(0, 9, 1, v, v, sizeof v, map, combine, NULL),
                  "filch_reduce: size: too large (1025)");
    check_invalid(filch_reduce_fallible(0, 9, 1, v, v, sizeof v, fallible_map, combine, NULL, NULL),
                  "filch_reduce_fallible: size: too large (1025)");
    check_invalid(filch_scan(0, 9, 1, v, v, sizeof v, map, combine, map, NULL),
                  "filch_scan: size: too large (1025)");
}

static void reductions_without_pointers(void **state)
{
    double v = 0;

    (void)state;
    check_invalid(filch_reduce(0, 9, 1, NULL, &v, sizeof v, map, combine, NULL),
                  "filch_reduce: result is NULL");
    check_invalid(filch_reduce(0, 9, 1, &v, NULL, sizeof v, map, combine, NULL),
                  "filch_reduce: identity is NULL");
    check_invalid(filch_reduce(0, 9, 1, &v, &v, sizeof v, NULL, combine, NULL),
                  "filch_reduce: map is NULL; pass a function");
    check_invalid(filch_reduce(0, 9, 1, &v, &v, sizeof v, map, NULL, NULL),
                  "filch_reduce: combine is NULL; pass a function");
    check_invalid(filch_reduce_fallible(0, 9, 1, &v, &v, sizeof v, NULL, combine, NULL, NULL),
                  "filch_reduce_fallible: map is NULL");
    check_invalid(filch_reduce_fallible(0, 9, 1, &v, &v, sizeof v, fallible_map, NULL, NULL, NULL),
                  "filch_reduce_fallible: combine is NULL");
    check_invalid(filch_scan(0, 9, 1, NULL, &v, sizeof v, map, combine, map, NULL),
                  "filch_scan: result is NULL");
    check_invalid(filch_scan(0, 9, 1, &v, &v, sizeof v, NULL, combine, map, NULL),
                  "filch_scan: map is NULL");
    check_invalid(filch_scan(0, 9, 1, &v, &v, sizeof v, map, NULL, map, NULL),
                  "filch_scan: combine is NULL");
    check_invalid(filch_scan(0, 9, 1, &v, &v, sizeof v, map, combine, NULL, NULL),
                  "filch_scan: write is NULL");
    CHECK_INT(filch_reduce(9, 9, 1, NULL, NULL, 0, map, combine, NULL), 0);
    CHECK_STR(last, "");
}

static void *stage(void *item, void *ctx)
{
    (void)item, (void)ctx;
    abort();
}

static int fallible_stage(void **item, void *ctx)
{
    (void)item, (void)ctx;
    abort();
}

static void wrong_stages(void **state)
{
    const filch_stage wrong_kind = {(filch_stage_kind)2, stage, NULL};
    const filch_stage_fallible wrong_fallible_kind = {(filch_stage_kind)-1, fallible_stage, NULL,
                                                      NULL};
    const filch_stage stages[2] = {{FILCH_STAGE_SERIAL, NULL, NULL}};
    const filch_stage_fallible fallible_stages[2] = {{FILCH_STAGE_SERIAL, NULL, NULL, NULL}};

    (void)state;
    check_invalid(filch_pipeline(stages, 0, 0), "filch_pipeline: stages: there are none");
    check_invalid(filch_pipeline(NULL, 2, 0), "filch_pipeline: stages: there are none");
    check_invalid(filch_pipeline(stages, 2, 0), "filch_pipeline: stages: no function (stage 0)");
    check_invalid(filch_pipeline_fallible(NULL, 2, 0), "filch_pipeline_fallible: stages: there");
    check_invalid(filch_pipeline_fallible(fallible_stages, 2, 0),
                  "filch_pipeline_fallible: stages: no function (stage 0)");
    check_invalid(filch_pipeline(&wrong_kind, 1, 0),
                  "filch_pipeline: stages: not a filch_stage_kind (stage 0: 2)");
    check_invalid(filch_pipeline_fallible(&wrong_fallible_kind, 1, 0),
                  "filch_pipeline_fallible: stages: not a filch_stage_kind (stage 0: -1)");
}

static void wrong_elements(void **state)
{
    int v[2] = {0};

    (void)state;
    check_invalid(filch_sort(v, 2, 0, filch_compare_int, NULL), "filch_sort: size: is 0");
    check_invalid(filch_sort(NULL, 2, 4, filch_compare_int, NULL),
                  "filch_sort: base is NULL; pass");
    check_invalid(filch_sort(v, 2, 4, NULL, NULL), "filch_sort: compare is NULL; pass");
    check_invalid(filch_sort_stable(v, SIZE_MAX / 4, 4, filch_compare_int, NULL),
                  "filch_sort_stable: too many elements");
    check_invalid(filch_merge(v, 1, NULL, 1, v, 4, filch_compare_int, NULL),
                  "filch_merge: b is NULL; pass");
    check_invalid(filch_merge(v, 1, v, 1, NULL, 4, filch_compare_int, NULL),
                  "filch_merge: out is NULL; pass");
}

CHECK_MAIN(wrong_loops, functions_that_are_null, values_too_large, reductions_without_pointers,
           wrong_stages, wrong_elements)

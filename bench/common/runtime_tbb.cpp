#include "bench.h"
#include "tbb_arena.h"

#include <memory>
#include <tbb/global_control.h>
#include <tbb/version.h>

const char *const bench_runtime = "tbb";

static std::unique_ptr<tbb::global_control> limit;
static std::unique_ptr<tbb::task_arena> arena;

tbb::task_arena &bench_arena()
{
    return *arena;
}

// The calling thread is one of the workers.
const char *bench_runtime_start(unsigned workers)
{
    limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                  workers);
    arena = std::make_unique<tbb::task_arena>(static_cast<int>(workers));
    arena->initialize();
    return nullptr;
}

void bench_runtime_report(FILE *out)
{
    fprintf(out, ",\"version\":\"oneTBB %s\"", TBB_runtime_version());
}

void bench_runtime_stop(void)
{
    arena.reset();
    limit.reset();
}

/* The records of a runtime: of each class a pool for each worker, and one for all other threads. */
#include "sched/worker.h"

void fi_records_init(fi_runtime *rt)
{
    for (int c = 0; c < FI_RECORD_CLASSES; c++) {
        fi_record_depot_init(&rt->record_depots[c], FI_RECORD_SIZE(c));
        fi_record_pool_init(&rt->external_records[c], &rt->record_depots[c]);
    }
}

/* A handle may outlive its runtime: the records stay until each handle was joined or detached. */
void fi_records_fini(fi_runtime *rt)
{
    fi_record_pool *all = rt->external_records;

    for (unsigned i = 0; i < rt->n_workers; i++)
        for (int c = 0; c < FI_RECORD_CLASSES; c++)
            fi_record_pool_merge(&all[c], &rt->workers[i].records[c]);
    fi_record_pool_end(&all[FI_RECORD_HANDLE], rt->number);
    for (int c = 0; c < FI_RECORD_CLASSES; c++)
        fi_record_pool_fini(&all[c]);
}

void *fi_record_alloc_external(fi_runtime *rt, fi_record_class class)
{
    void *record;

    fi_lock_lock(&rt->external_lock);
    record = fi_record_pool_alloc(&rt->external_records[class]);
    fi_lock_unlock(&rt->external_lock);
    return record;
}

void fi_record_free_external(fi_runtime *rt, fi_record_class class, void *record)
{
    fi_lock_lock(&rt->external_lock);
    fi_record_pool_free(&rt->external_records[class], record);
    fi_lock_unlock(&rt->external_lock);
}

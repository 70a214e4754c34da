/* How many workers a rank has. */
#ifndef FI_CLUSTER_WORKERS_H
#define FI_CLUSTER_WORKERS_H

#include "transport/transport.h"

/* Ranks on the same node that may use the same CPUs share them equally.  Ranks that their launcher
 * has bound to different CPUs each use their own. */
unsigned fi_workers_choose(const fi_place *place);

/* Are there more ranks than CPUs? */
bool fi_workers_lack_cpus(const fi_place *place);

/* Report CPUs of the node that no rank may use, because the launcher has bound the ranks. */
void fi_workers_check_binding(const fi_place *place, unsigned workers);

#endif

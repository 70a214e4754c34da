#include "sim/world.h"

void fi_packets_push(fi_packets *list, fi_packet *p)
{
    p->next = NULL;
    if (list->n == 0)
        list->first = p;
    else
        list->last->next = p;
    list->last = p;
    list->n++;
}

fi_packet *fi_packets_pop(fi_packets *list)
{
    fi_packet *p = list->first;

    if (list->n == 0)
        return NULL;
    list->first = p->next;
    list->n--;
    return p;
}

#include "sync/woken.h"

#include <stddef.h>

void fi_woken_take(fi_woken *list, fi_line *line, int result)
{
    fi_wait *w = fi_line_take(line);

    if (!w)
        return;
    w->result = result;
    w->next = NULL;
    if (list->last)
        list->last->next = w;
    else
        list->first = w;
    list->last = w;
}

unsigned fi_woken_take_all(fi_woken *list, fi_line *line, int result)
{
    unsigned n = 0;

    for (; line->first; n++)
        fi_woken_take(list, line, result);
    return n;
}

void fi_woken_end(fi_woken list)
{
    while (list.first) {
        fi_wait *w = list.first;
        list.first = w->next;
        fi_wait_end(w);
    }
}

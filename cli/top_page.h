/* The page of another process that filch top displays: see <filch/top.h>.
 *
 * If root runs filch top, the process may belong to another user, and may write anything to the
 * page at any time.  So the page is copied after each answer, and the copy is made safe to use: the
 * number of workers is the one that was checked at the start, strings are terminated, and times are
 * not negative. */
#ifndef CLI_TOP_PAGE_H
#define CLI_TOP_PAGE_H

#include <filch/top.h>
#include <stdbool.h>
#include <sys/types.h>

enum { TOP_WORKERS_MAX = 1024 };

typedef struct top_page {
    filch_top *at;     /* the copy */
    filch_top *shared; /* the page itself */
    uint32_t workers;
    size_t size;
    int fd;
    pid_t pid;
} top_page;

/* NULL, or why the process cannot be looked at. */
const char *top_open(top_page *p, pid_t pid);
void top_close(top_page *p);

/* Does this process have such a page? */
bool top_has_page(pid_t pid);

/* Request an answer, and copy it.  TOP_ANSWERED; or the process has ended or stopped its runtime;
 * or it does not answer in time. */
typedef enum top_answer { TOP_ANSWERED, TOP_OVER, TOP_SILENT } top_answer;
top_answer top_ask(top_page *p, filch_top_part part);

#endif

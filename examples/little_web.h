/* A web of made-up pages in this process, for crawl to crawl: page i is /i and has links to 2i+1 and 2i+2, and some others. */
#ifndef EXAMPLES_LITTLE_WEB_H
#define EXAMPLES_LITTLE_WEB_H

/* Of every WEB_FLAKY pages one is not there the first time, of every WEB_BROKEN one never. */
#define WEB_FLAKY  7
#define WEB_BROKEN 50

/* Returns: the port; -errno. */
int web_start(unsigned pages);

/* Returns: how many it has answered at most at the same time. */
unsigned web_stop(void);

#endif

/* A web site in this process, for crawl.  Page i is /i and links to pages 2i+1 and 2i+2 and some
 * others. */
#ifndef EXAMPLES_TEST_SITE_H
#define EXAMPLES_TEST_SITE_H

/* One in SITE_FLAKY pages fails the first time; one in SITE_BROKEN pages always fails. */
#define SITE_FLAKY  7
#define SITE_BROKEN 50

/* Start the site.  Returns: its port; -errno. */
int test_site_start(unsigned pages);

/* Stop the site.  Returns: the max number of requests it served at the same time. */
unsigned test_site_stop(void);

#endif

/* Progress: a line that is redrawn on a terminal, otherwise a line every 15 seconds. */
#ifndef CLI_LAB_PROGRESS_H
#define CLI_LAB_PROGRESS_H

/* what: the current call.  seconds: estimated time left; negative: unknown. */
void progress_show(int done, int all, double seconds, const char *what);

/* Clear the line before other output. */
void progress_clear(void);

/* "about 3 min 20 s left" */
void progress_text(double seconds, char *out, int capacity);

#endif

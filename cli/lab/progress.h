/* How far it is: a line that is redrawn on a terminal, else a line now and then. */
#ifndef CLI_LAB_PROGRESS_H
#define CLI_LAB_PROGRESS_H

/* what: what runs.  seconds: what is left, about; negative where nobody knows yet. */
void progress_show(int done, int all, double seconds, const char *what);

/* Clear the line for another line; the next call draws it again. */
void progress_clear(void);

/* "about 3 min 20 s left" */
void progress_text(double seconds, char *out, int capacity);

#endif

/* The screen of `filch top`.  If stdout is not a terminal, updates are plain text. */
#ifndef CLI_TOP_TERMINAL_H
#define CLI_TOP_TERMINAL_H

#include <stdbool.h>

/* Between these two, the terminal has its alternate screen, and signals end the command with
 * terminal_is_ended. */
void terminal_enter(void);
void terminal_leave(void);
bool terminal_is_ended(void);

/* Returns: true if q was pressed, or the terminal is gone. */
bool terminal_wait(int ms);

/* Called while much is read: true if the command is to end. */
bool terminal_is_interrupted(void);

/* Around the output of an update.  height: 0 if it has no limit. */
void terminal_begin_update(bool is_first, int *width, int *height);
void terminal_end_update(void);

#endif

/* `filch lab csv FILE`: samples as CSV. */
#ifndef CLI_LAB_CSV_H
#define CLI_LAB_CSV_H

/* Takes its own arguments, "csv" first.  Returns the exit code. */
int lab_csv(int argc, char **argv);

#endif

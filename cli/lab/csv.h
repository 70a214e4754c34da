/* `filch lab csv FILE`: samples as a table. */
#ifndef CLI_LAB_CSV_H
#define CLI_LAB_CSV_H

/* Its own words, "csv" first.  How the program ends. */
int lab_csv(int argc, char **argv);

#endif

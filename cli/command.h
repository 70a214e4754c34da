/* What comes after `filch`.  Each takes its own words, its name first, and returns how to end. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

int command_bench(int argc, char **argv);
int command_lab(int argc, char **argv);
int command_run(int argc, char **argv);
int command_scale(int argc, char **argv);
int command_top(int argc, char **argv);

#endif

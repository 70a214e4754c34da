/* The commands of `filch`.  Each takes its own arguments, its name first, and returns the exit
 * code. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

int command_bench(int argc, char **argv);
int command_cluster(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_info(int argc, char **argv);
int command_lab(int argc, char **argv);
int command_run(int argc, char **argv);
int command_scale(int argc, char **argv);
int command_top(int argc, char **argv);
int command_trace(int argc, char **argv);

#endif

/* How the report looks: in the light and in the dark, on a wide screen, on a telephone and on paper. */
#ifndef CLI_LAB_CSS_H
#define CLI_LAB_CSS_H

extern const char report_css[];

#endif

/* The style of the report: light, dark, wide, narrow and printed. */
#ifndef CLI_LAB_CSS_H
#define CLI_LAB_CSS_H

extern const char report_css[];

#endif

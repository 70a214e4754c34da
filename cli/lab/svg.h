/* Embed gnuplot's SVG in a page. */
#ifndef CLI_LAB_SVG_H
#define CLI_LAB_SVG_H

/* An element <svg> with a title and a description, to be freed; NULL: out of memory or not SVG.
 * Its ids begin with `id`.  It takes its colours from the variables of the page's style, and has
 * colours of its own elsewhere. */
char *svg_embed(const char *drawn, const char *id, const char *title, const char *about);

#endif

#include "base/message.h"

#include "base/at_fork.h"
#include "base/lock.h"
#include "base/printable.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PREFIX        "filch: "
#define LINE_MAX_SIZE 1024 /* on the stack of a fiber, which may have 16 KiB */

typedef struct message_handler {
    filch_message_handler *call; /* NULL: write to stderr */
    void *ctx;
} message_handler;

static fi_lock handler_lock;
static message_handler handler;

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_MESSAGES, &handler_lock, NULL);
}

void filch_set_message_handler(filch_message_handler *call, void *ctx)
{
    fi_lock_lock(&handler_lock);
    handler = (message_handler){call, ctx};
    fi_lock_unlock(&handler_lock);
}

/* The lock is not held while the handler runs.  The handler may take a lock of the program, which
 * another thread may hold while it sends a message. */
static message_handler get_handler(void)
{
    message_handler h;

    fi_lock_lock(&handler_lock);
    h = handler;
    fi_lock_unlock(&handler_lock);
    return h;
}

/* An error of stderr cannot be reported anywhere. */
static void write_stderr(const char *text, size_t n)
{
    while (n > 0) {
        ssize_t done = write(STDERR_FILENO, text, n);
        if (done < 0 && errno != EINTR)
            return;
        if (done > 0)
            text += done, n -= (size_t)done;
    }
}

/* One write for the whole line, so that output of other threads cannot split it. */
void fi_message_va(filch_level level, const char *format, va_list args)
{
    const size_t prefix = sizeof PREFIX - 1;
    message_handler h = get_handler();
    char line[LINE_MAX_SIZE] = PREFIX;
    int e = errno;
    size_t n;

    vsnprintf(line + prefix, sizeof line - prefix - 1, format, args);
    fi_make_printable(line + prefix);
    n = strlen(line);
    if (h.call) {
        h.call(level, line + prefix, h.ctx);
    } else {
        line[n] = '\n';
        write_stderr(line, n + 1);
    }
    errno = e;
}

void filch_message_(filch_level level, const char *text)
{
    fi_message(level, "%s", text);
}

void fi_message(filch_level level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fi_message_va(level, format, args);
    va_end(args);
}

int fi_message_invalid(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fi_message_va(FILCH_LEVEL_ERROR, format, args);
    va_end(args);
    return -EINVAL;
}

int fi_message_null(const char *function, const char *argument, const char *wanted)
{
    return fi_message_invalid("%s: %s is NULL; pass %s", function, argument, wanted);
}

/* The handler gets no empty lines.  They separate paragraphs on stderr. */
static void send_lines(message_handler h, filch_level level, char *text, const char *end)
{
    while (text < end) {
        char *newline = memchr(text, '\n', (size_t)(end - text));
        if (!newline)
            return;
        *newline = '\0';
        if (strncmp(text, PREFIX, sizeof PREFIX - 1) == 0)
            text += sizeof PREFIX - 1;
        if (*text)
            h.call(level, text, h.ctx);
        text = newline + 1;
    }
}

void fi_message_lines(filch_level level, char *text, size_t n)
{
    message_handler h = get_handler();
    int e = errno;

    if (h.call)
        send_lines(h, level, text, text + n);
    else
        write_stderr(text, n);
    errno = e;
}

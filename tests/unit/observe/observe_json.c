/* Any string is written as valid JSON. */
#include "check.h"

#include "observe/json.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static fi_json json;
static char text[1 << 20];

/* The text that use() writes. */
static const char *written(void (*use)(fi_json *j))
{
    char path[] = "/tmp/filch-json-XXXXXX";
    int fd = mkstemp(path);
    ssize_t n;

    CHECK(fd >= 0);
    unlink(path);
    json = (fi_json){.fd = fd};
    use(&json);
    fi_json_flush(&json);
    CHECK_INT(json.error, 0);
    n = pread(fd, text, sizeof text - 1, 0);
    CHECK(n >= 0);
    text[n] = '\0';
    close(fd);
    return text;
}

static void numbers(fi_json *j)
{
    static const int64_t us[] = {0, 1, 999, 1000, 1234567, INT64_MAX, -5};

    fi_json_number(j, 0);
    fi_json_raw(j, " ");
    fi_json_number(j, UINT64_MAX);
    for (size_t i = 0; i < sizeof us / sizeof *us; i++) {
        fi_json_raw(j, " ");
        fi_json_us(j, us[i]);
    }
}

static void integers_have_all_digits(void **state)
{
    (void)state;
    CHECK_STR(written(numbers), "0 18446744073709551615 0.000 0.001 0.999 1.000 1234.567 "
                                "9223372036854775.807 0.000");
}

static void strings(fi_json *j)
{
    static const char *const all[] = {
        "plain",
        "\"\\/",
        "\n\t\x01\x7f",
        "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", /* two, three, four bytes */
        "\xff\xfe",
        "\xc3",             /* truncated */
        "\xc3(",            /* not continued */
        "\xc0\xaf",         /* overlong */
        "\xed\xa0\x80",     /* a UTF-16 surrogate */
        "\xf4\x90\x80\x80", /* above U+10FFFF */
        "",
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        fi_json_string(j, all[i]);
}

#define BAD "\\ufffd"

static void strings_are_valid_utf_8(void **state)
{
    (void)state;
    CHECK_STR(written(strings), "\"plain\"\"\\\"\\\\/\"\"\\u000a\\u0009\\u0001\\u007f\""
                                "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\""
                                "\"" BAD BAD "\"\"" BAD "\"\"" BAD "(\"\"" BAD BAD "\""
                                "\"" BAD BAD BAD "\"\"" BAD BAD BAD BAD "\"\"\"");
}

static void many_strings(fi_json *j)
{
    for (int i = 0; i < 30000; i++)
        fi_json_raw(j, "0123456789");
}

static void large_output_is_written_in_pieces(void **state)
{
    (void)state;
    CHECK_INT(strlen(written(many_strings)), 300000);
}

static void a_write_error_is_kept(void **state)
{
    (void)state;
    json = (fi_json){.fd = open("/dev/full", O_WRONLY)};
    many_strings(&json);
    fi_json_flush(&json);
    CHECK_INT(json.error, -ENOSPC);
    close(json.fd);
}

CHECK_MAIN(integers_have_all_digits, strings_are_valid_utf_8, large_output_is_written_in_pieces,
           a_write_error_is_kept)

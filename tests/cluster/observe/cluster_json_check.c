/* Only complete, valid objects are accepted. */
#include "check.h"

#include "observe/json_check.h"

static bool accepts(const char *text)
{
    size_t n = strlen(text);
    char *copy = malloc(n > 0 ? n : 1); /* of this size, so that ASan sees a read behind it */
    bool is_valid;

    CHECK(copy != NULL);
    for (size_t i = 0; i < n; i++)
        copy[i] = text[i];
    is_valid = fi_json_is_object(copy, copy + n);
    free(copy);
    return is_valid;
}

static const char *const valid[] = {
    "{}",
    "{\"a\":1}",
    "{\"a\":-1.25,\"b\":0,\"c\":0.001}",
    "{\"a\":[1,\"x\",{}],\"b\":{\"c\":true,\"d\":false,\"e\":null},\"f\":[]}",
    "{\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00aF\":\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \x7f\"}",
};

static const char *const invalid[] = {
    "",
    "{",
    "}",
    "[]",
    "1",
    "\"a\"",
    "{}{}",
    "{},",
    " {}",
    "{} ",
    "{a:1}",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{,}",
    "{\"a\":1 }",
    "{\"a\":01}",
    "{\"a\":1.}",
    "{\"a\":.5}",
    "{\"a\":-}",
    "{\"a\":1e5}",
    "{\"a\":tru}",
    "{\"a\":[1,]}",
    "{\"a\":[1}",
    "{\"a\":\"x}",
    "{\"a\":\"\\x\"}",
    "{\"a\":\"\\u12\"}",
    "{\"a\":\"\n\"}",
    "{\"a\":\"\x01\"}",
    "{\"a\":\"\xff\"}",
    "{\"a\":\"\xc3\"}",
    "{\"a\":\"\xc0\xaf\"}",
    "{\"a\":\"\xed\xa0\x80\"}",
    "{\"a\":\"\xf4\x90\x80\x80\"}",
    "{\"a\":\"\\",
    "{\"a\":\"\\u",
    "{\"a\":\"\xe2\x82",
    "{\"a\":[[[[[[[[[[[[]]]]]]]]]]]]}",
};

static void valid_objects(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
        CHECK(accepts(valid[i]));
}

static void invalid_objects(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        CHECK(!accepts(invalid[i]));
}

static void prefixes_are_invalid(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
        for (size_t n = 0; n < strlen(valid[i]); n++) {
            char text[256];
            snprintf(text, sizeof text, "%.*s", (int)n, valid[i]);
            CHECK(!accepts(text));
        }
}

CHECK_MAIN(valid_objects, invalid_objects, prefixes_are_invalid)

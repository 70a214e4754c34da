/* The text for the remaining time.  cli_lab_test.sh checks the progress bar. */
#include "check.h"
#include "lab/progress.h"

static void remaining_time(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *words;
    } cases[] = {
        {-1, "time left not known yet"}, {0, "about 0 s left"},
        {59.4, "about 59 s left"},       {60, "about 1 min 0 s left"},
        {200, "about 3 min 20 s left"},  {3725, "about 1 h 2 min left"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[64];
        progress_text(cases[i].seconds, words, sizeof words);
        CHECK_STR(words, cases[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_TEST(remaining_time)};
    return CHECK_RUN(tests);
}

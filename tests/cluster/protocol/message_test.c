/* Messages: names of kinds, and packets. */
#include "check.h"
#include "protocol/message.h"

static void each_kind_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (unsigned a = FI_ASK; a < FI_KINDS; a++) {
        CHECK(strcmp(fi_kind_name(a), "unknown") != 0);
        for (unsigned b = a + 1; b < FI_KINDS; b++)
            CHECK(strcmp(fi_kind_name(a), fi_kind_name(b)) != 0);
    }
    CHECK_STR(fi_kind_name(FI_LOOT), "LOOT");
    CHECK_STR(fi_kind_name(FI_LEAVE), "LEAVE");
}

static void other_numbers_are_unknown_kinds(void **state)
{
    (void)state;
    CHECK_STR(fi_kind_name(0), "unknown");
    CHECK_STR(fi_kind_name(FI_KINDS), "unknown");
    CHECK_STR(fi_kind_name(UINT32_MAX), "unknown");
}

static void a_packet_is_a_header_and_its_body(void **state)
{
    fi_packet *p = fi_packet_new(100);

    (void)state;
    CHECK(p != NULL);
    CHECK_INT(p->size, 100);
    CHECK_INT(p->head.kind, 0);
    CHECK_INT(fi_packet_bytes(p), 32 + 100);
    CHECK((unsigned char *)&p->head + sizeof p->head == p->body);
    memset(p->body, 1, 100);
    fi_packet_free(p);
    fi_packet_free(NULL);
}

static void a_packet_that_is_too_large_is_refused(void **state)
{
    (void)state;
    CHECK(fi_packet_new(SIZE_MAX) == NULL);
    CHECK(fi_packet_new(SIZE_MAX - sizeof(fi_packet) + 1) == NULL);
}

CHECK_MAIN(each_kind_has_a_name_of_its_own, other_numbers_are_unknown_kinds,
           a_packet_is_a_header_and_its_body, a_packet_that_is_too_large_is_refused)

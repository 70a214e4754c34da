#include "protocol/message.h"

#include <stdlib.h>

fi_packet *fi_packet_new(size_t size)
{
    fi_packet *p;

    if (size > SIZE_MAX - sizeof *p)
        return NULL;
    p = malloc(sizeof *p + size);
    if (p)
        *p = (fi_packet){.size = size};
    return p;
}

void fi_packet_free(fi_packet *p)
{
    free(p);
}

const char *fi_kind_name(unsigned kind)
{
    static const char *const names[FI_KINDS] = {
        [FI_ASK] = "ASK",     [FI_LIFE] = "LIFE",   [FI_NO] = "NO",       [FI_LOOT] = "LOOT",
        [FI_GIFT] = "GIFT",   [FI_WAVE] = "WAVE",   [FI_COUNT] = "COUNT", [FI_END] = "END",
        [FI_DONE] = "DONE",   [FI_LEAVE] = "LEAVE", [FI_STOP] = "STOP",   [FI_BEAT] = "BEAT",
        [FI_QUERY] = "QUERY", [FI_REPLY] = "REPLY",
    };

    return kind < FI_KINDS && names[kind] ? names[kind] : "unknown";
}

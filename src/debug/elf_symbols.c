#include "debug/elf_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file as it is, of which nothing is believed before it was looked at. */
typedef struct image {
    const char *at;
    size_t size;
} image;

static bool map_file(const char *file, image *i)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    struct stat s;
    void *at = MAP_FAILED;

    if (fd < 0)
        return false;
    if (fstat(fd, &s) == 0 && s.st_size > 0)
        at = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    *i = (image){at, (size_t)s.st_size};
    return at != MAP_FAILED;
}

/* NULL: it is not all in the file. */
static const void *part(const image *i, uint64_t offset, uint64_t size)
{
    return offset <= i->size && size <= i->size - offset ? i->at + offset : NULL;
}

static const ElfW(Ehdr) * head_of(const image *i)
{
    const ElfW(Ehdr) *head = part(i, 0, sizeof *head);

    return head && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
                   head->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
                   head->e_shentsize == sizeof(ElfW(Shdr))
               ? head
               : NULL;
}

static const ElfW(Sym) * find_in(const ElfW(Sym) * symbols, size_t n, uintptr_t address)
{
    for (size_t k = 0; k < n; k++)
        if ((symbols[k].st_info & 0xf) == STT_FUNC && address >= symbols[k].st_value &&
            address - symbols[k].st_value < symbols[k].st_size)
            return &symbols[k];
    return NULL;
}

/* The name must end before its section does. */
static bool copy_name(const image *i, const ElfW(Shdr) * strings, size_t at, char *name,
                      size_t size)
{
    const char *text = part(i, strings->sh_offset, strings->sh_size);

    if (!text || at >= strings->sh_size || !memchr(text + at, '\0', strings->sh_size - at))
        return false;
    snprintf(name, size, "%s", text + at);
    return true;
}

static bool find(const image *i, uintptr_t base, uintptr_t at, char *name, size_t size,
                 ptrdiff_t *offset)
{
    const ElfW(Ehdr) *head = head_of(i);
    const ElfW(Shdr) *sections =
        head ? part(i, head->e_shoff, head->e_shnum * sizeof *sections) : NULL;
    uintptr_t address = head && head->e_type == ET_DYN ? at - base : at;

    for (unsigned k = 0; sections && k < head->e_shnum; k++) {
        const ElfW(Shdr) *s = &sections[k];
        const ElfW(Sym) * symbols, *symbol;
        if (s->sh_type != SHT_SYMTAB || s->sh_link >= head->e_shnum)
            continue;
        symbols = part(i, s->sh_offset, s->sh_size);
        symbol = symbols ? find_in(symbols, s->sh_size / sizeof *symbols, address) : NULL;
        if (!symbol)
            return false;
        *offset = (ptrdiff_t)(address - symbol->st_value);
        return copy_name(i, &sections[s->sh_link], symbol->st_name, name, size);
    }
    return false;
}

bool fi_elf_symbol_find(const char *file, const void *base, const void *at, char *name, size_t size,
                        ptrdiff_t *offset)
{
    image i;
    bool found;

    if (!map_file(file, &i))
        return false;
    found = find(&i, (uintptr_t)base, (uintptr_t)at, name, size, offset);
    munmap((void *)(uintptr_t)i.at, i.size);
    return found;
}

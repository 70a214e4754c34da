/* Reads the symbol table of an ELF file. */
#include "debug/elf_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A mapped file.  Its contents are not trusted: every offset is checked. */
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

/* NULL: the range exceeds the file. */
static const void *image_range(const image *i, uint64_t offset, uint64_t size)
{
    return offset <= i->size && size <= i->size - offset ? i->at + offset : NULL;
}

static const ElfW(Ehdr) * image_header(const image *i)
{
    const ElfW(Ehdr) *header = image_range(i, 0, sizeof *header);

    return header && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
                   header->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
                   header->e_shentsize == sizeof(ElfW(Shdr))
               ? header
               : NULL;
}

static const ElfW(Sym) * symbol_at(const ElfW(Sym) * symbols, size_t n, uintptr_t address)
{
    for (size_t k = 0; k < n; k++)
        if ((symbols[k].st_info & 0xf) == STT_FUNC && address >= symbols[k].st_value &&
            address - symbols[k].st_value < symbols[k].st_size)
            return &symbols[k];
    return NULL;
}

/* False: the name is not terminated within its section. */
static bool copy_symbol_name(const image *i, const ElfW(Shdr) * strings, size_t at, char *name,
                             size_t size)
{
    const char *text = image_range(i, strings->sh_offset, strings->sh_size);

    if (!text || at >= strings->sh_size || !memchr(text + at, '\0', strings->sh_size - at))
        return false;
    snprintf(name, size, "%s", text + at);
    return true;
}

static bool image_find(const image *i, uintptr_t base, uintptr_t at, char *name, size_t size,
                       ptrdiff_t *offset)
{
    const ElfW(Ehdr) *header = image_header(i);
    const ElfW(Shdr) *sections =
        header ? image_range(i, header->e_shoff, header->e_shnum * sizeof *sections) : NULL;
    uintptr_t address = header && header->e_type == ET_DYN ? at - base : at;

    for (unsigned k = 0; sections && k < header->e_shnum; k++) {
        const ElfW(Shdr) *s = &sections[k];
        const ElfW(Sym) * symbols, *symbol;
        if (s->sh_type != SHT_SYMTAB || s->sh_link >= header->e_shnum)
            continue;
        symbols = image_range(i, s->sh_offset, s->sh_size);
        symbol = symbols ? symbol_at(symbols, s->sh_size / sizeof *symbols, address) : NULL;
        if (!symbol)
            return false;
        *offset = (ptrdiff_t)(address - symbol->st_value);
        return copy_symbol_name(i, &sections[s->sh_link], symbol->st_name, name, size);
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
    found = image_find(&i, (uintptr_t)base, (uintptr_t)at, name, size, offset);
    munmap((void *)(uintptr_t)i.at, i.size);
    return found;
}

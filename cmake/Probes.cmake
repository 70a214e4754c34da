# Compile USDT probes for perf and bpftrace into the library if <sys/sdt.h> is installed (Debian:
# systemtap-sdt-dev).  A probe is a nop and an ELF note; it adds no run-time dependency.
set(FILCH_HAS_PROBES OFF)
if(FILCH_PROBES)
  include(CheckIncludeFile)
  check_include_file(sys/sdt.h FILCH_SDT_H)
  if(FILCH_SDT_H)
    set(FILCH_HAS_PROBES ON)
  endif()
endif()

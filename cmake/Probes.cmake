# Probes for perf and bpftrace are put into the library where <sys/sdt.h> is installed (Debian: systemtap-sdt-dev).  A
# probe is a nop and a note; nothing is needed where the library is used.
set(FILCH_HAS_PROBES OFF)
if(FILCH_PROBES)
  include(CheckIncludeFile)
  check_include_file(sys/sdt.h FILCH_SDT_H)
  if(FILCH_SDT_H)
    set(FILCH_HAS_PROBES ON)
  endif()
endif()

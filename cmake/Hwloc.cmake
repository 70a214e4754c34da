# hwloc is asked for caches and NUMA nodes where it is installed; without it, Linux's own files are
# read.  FILCH_USES_HWLOC says which, to the code and to what is installed.
set(FILCH_USES_HWLOC OFF)
if(FILCH_HWLOC)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(HWLOC QUIET IMPORTED_TARGET hwloc>=2.0)
    set(FILCH_USES_HWLOC ${HWLOC_FOUND})
  endif()
endif()

# Warnings of all targets of this project.  FILCH_WERROR=ON makes them errors.
option(FILCH_WERROR "Treat warnings as errors" OFF)
add_library(filch_warnings INTERFACE)
target_compile_options(filch_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wshadow -Wconversion -Wundef>
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
  $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<BOOL:${FILCH_WERROR}>>:-Werror>)

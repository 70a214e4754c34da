# Warnings that every target of this project is built with; errors where FILCH_WERROR asks.
option(FILCH_WERROR "Treat warnings as errors" OFF)
add_library(filch_warnings INTERFACE)
target_compile_options(filch_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wshadow -Wconversion -Wundef>
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
  $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<BOOL:${FILCH_WERROR}>>:-Werror>)

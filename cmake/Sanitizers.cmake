# FILCH_SANITIZE is a list: "address;undefined" or "thread".
add_library(filch_sanitizers INTERFACE)
if(FILCH_SANITIZE)
  string(REPLACE ";" "," _list "${FILCH_SANITIZE}")
  set(_flags -fsanitize=${_list} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(filch_sanitizers INTERFACE ${_flags})
  target_link_options(filch_sanitizers INTERFACE ${_flags})
endif()

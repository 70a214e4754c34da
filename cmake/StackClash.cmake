# A stack frame larger than the guard can skip it and overwrite the stack of another fiber.  With this
# option the compiler touches large frames page by page, so that they hit the guard and the overflow
# is reported.  The CMake target and filch.pc pass the option on to users of the library; filch(7)
# says how to disable it.
include(CheckCCompilerFlag)

# Clang before 11, and before 18 on aarch64, accepts the option but warns that it has no effect.
set(FILCH_CLANG_WITH_STACK_CLASH 18)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(FILCH_CLANG_WITH_STACK_CLASH 11)
endif()

# For the CMake target, depending on the compiler of the user.
foreach(lang C CXX)
  set(version "$<${lang}_COMPILER_VERSION>")
  set(gcc "$<AND:$<COMPILE_LANG_AND_ID:${lang},GNU>,$<VERSION_GREATER_EQUAL:${version},8>>")
  set(clang "$<AND:$<COMPILE_LANG_AND_ID:${lang},Clang>,$<VERSION_GREATER_EQUAL:${version},${FILCH_CLANG_WITH_STACK_CLASH}>>")
  list(APPEND FILCH_STACK_CLASH_OPTIONS "$<$<OR:${gcc},${clang}>:-fstack-clash-protection>")
endforeach()

# For filch.pc, depending on the compiler of this build.
set(CMAKE_REQUIRED_FLAGS -Werror)
check_c_compiler_flag(-fstack-clash-protection FILCH_HAS_STACK_CLASH)
unset(CMAKE_REQUIRED_FLAGS)

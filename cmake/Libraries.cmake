# libfilch.so (filch::filch) and libfilch.a (filch::static), both from the same objects.
add_library(filch SHARED $<TARGET_OBJECTS:filch_objects>)
add_library(filch_static STATIC $<TARGET_OBJECTS:filch_objects>)
add_library(filch::filch ALIAS filch)
add_library(filch::static ALIAS filch_static)

foreach(lib filch filch_static)
  set_target_properties(${lib} PROPERTIES OUTPUT_NAME filch LINKER_LANGUAGE C)
  target_include_directories(${lib} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_options(${lib} INTERFACE ${FILCH_STACK_CLASH_OPTIONS})
  target_link_libraries(${lib} PRIVATE Threads::Threads $<BUILD_INTERFACE:filch_sanitizers>)
endforeach()

# While the major version is 0, a new minor version may change the ABI (docs/abi.md).
set(FILCH_SOVERSION ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(FILCH_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
set_target_properties(filch PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${FILCH_SOVERSION}
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/filch.map)
target_link_options(filch PRIVATE
  "LINKER:--version-script=${PROJECT_SOURCE_DIR}/src/filch.map"
  LINKER:--as-needed
  # Report undefined symbols when the library is linked.  Not with sanitizers: the program defines
  # their symbols.
  $<$<NOT:$<BOOL:${FILCH_SANITIZE}>>:LINKER:--no-undefined>)
set_target_properties(filch PROPERTIES EXPORT_NAME filch)
set_target_properties(filch_static PROPERTIES EXPORT_NAME static)

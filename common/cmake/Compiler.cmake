# Warnings and hardening for our own code; libraries' headers are SYSTEM.
add_library(gdrcheck_compile_options INTERFACE)
target_compile_options(gdrcheck_compile_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wcast-qual -Wformat=2
  -Wnon-virtual-dtor -Wimplicit-fallthrough -fstack-protector-strong
  # gcc 12 sees overlaps in "x" + std::string(y) that are none (its bug 105651)
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op -Wno-restrict>
  # designated initialisers leave the rest at their defaults on purpose
  -Wno-missing-field-initializers
  $<$<BOOL:${GDRCHECK_WERROR}>:-Werror>)
if(CMAKE_BUILD_TYPE MATCHES "Rel")
  target_compile_definitions(gdrcheck_compile_options INTERFACE _FORTIFY_SOURCE=2)
endif()
target_include_directories(gdrcheck_compile_options INTERFACE ${PROJECT_SOURCE_DIR})
target_link_options(gdrcheck_compile_options INTERFACE LINKER:-z,relro,-z,now,--as-needed)

# A room: one static library of all the .cpp files in the calling folder. Usage: gdrcheck_room(facts gdrcheck_base …)
function(gdrcheck_room name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(gdrcheck_${name} STATIC ${sources} ${GDRCHECK_ROOM_GENERATED})
  target_link_libraries(gdrcheck_${name} PUBLIC ${ARGN} PRIVATE gdrcheck_compile_options)
  target_include_directories(gdrcheck_${name} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()

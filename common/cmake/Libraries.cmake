# Libraries of the distribution. Nothing is fetched.
find_package(tl-expected REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)

# Headers only: common/base/fmt_library.cpp compiles the rest into our own programs.
add_library(gdrcheck_fmt INTERFACE)
target_include_directories(gdrcheck_fmt SYSTEM INTERFACE
  $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)

# XML of NCCL topology files
find_path(PUGIXML_INCLUDE_DIR pugixml.hpp REQUIRED)
find_library(PUGIXML_LIBRARY NAMES libpugixml.a pugixml REQUIRED)
add_library(gdrcheck_pugixml INTERFACE)
target_include_directories(gdrcheck_pugixml SYSTEM INTERFACE ${PUGIXML_INCLUDE_DIR})
target_link_libraries(gdrcheck_pugixml INTERFACE ${PUGIXML_LIBRARY})

# Headers only: the library is opened at run time, when a snapshot is written or read.
find_path(LIBARCHIVE_INCLUDE_DIR archive.h)

# Names of PCI devices that no driver names
find_file(PCI_IDS_FILE pci.ids PATHS /usr/share/misc /usr/share/hwdata NO_DEFAULT_PATH)

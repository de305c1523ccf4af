# Libraries of the distribution. Nothing is fetched.
find_package(tl-expected REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)

# The programs run in prologs, where every library is one more file to open and to be missing: {fmt} is taken in whole.
add_library(gdrcheck_fmt INTERFACE)
target_link_libraries(gdrcheck_fmt INTERFACE fmt::fmt-header-only)

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

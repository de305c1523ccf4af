# What this build has and what it left out, in one place.
message(STATUS "gdrcheck ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}")
if(NOT LIBARCHIVE_INCLUDE_DIR)
  message(STATUS "  left out: snapshots as tar.gz (libarchive-dev not found)")
endif()
if(NOT PCI_IDS_FILE)
  message(STATUS "  left out: PCI device names (pci.ids not found; read at run time where it is installed)")
endif()

// libarchive, opened when a snapshot is read or written and at no other time: it pulls a dozen libraries (libxml2,
// nettle, ICU, …) into the process, each a file to open at every start of a program that runs in every prolog, and a
// package that can be missing on a diskless node.
#pragma once

#ifdef GDRCHECK_LIBARCHIVE_HEADERS

#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <span>

#include "common/base/result.hpp"

namespace gdrcheck::snapshot {

/// The functions that this room calls, by their names without "archive_".
struct ArchiveLibrary {
    decltype(&::archive_read_new) read_new;
    decltype(&::archive_read_free) read_free;
    decltype(&::archive_read_support_filter_gzip) read_support_filter_gzip;
    decltype(&::archive_read_support_filter_xz) read_support_filter_xz;
    decltype(&::archive_read_support_filter_zstd) read_support_filter_zstd;
    decltype(&::archive_read_support_format_tar) read_support_format_tar;
    decltype(&::archive_read_open_fd) read_open_fd;
    decltype(&::archive_read_next_header) read_next_header;
    decltype(&::archive_read_data) read_data;
    decltype(&::archive_filter_count) filter_count;
    decltype(&::archive_filter_bytes) filter_bytes;
    decltype(&::archive_write_new) write_new;
    decltype(&::archive_write_free) write_free;
    decltype(&::archive_write_add_filter_gzip) write_add_filter_gzip;
    decltype(&::archive_write_set_filter_option) write_set_filter_option;
    decltype(&::archive_write_set_format_pax_restricted) write_set_format_pax_restricted;
    decltype(&::archive_write_open_fd) write_open_fd;
    decltype(&::archive_write_header) write_header;
    decltype(&::archive_write_data) write_data;
    decltype(&::archive_write_close) write_close;
    decltype(&::archive_error_string) error_string;
    decltype(&::archive_errno) error_number;
    decltype(&::archive_entry_new) entry_new;
    decltype(&::archive_entry_free) entry_free;
    decltype(&::archive_entry_pathname) entry_pathname;
    decltype(&::archive_entry_pathname_utf8) entry_pathname_utf8;
    decltype(&::archive_entry_hardlink) entry_hardlink;
    decltype(&::archive_entry_symlink) entry_symlink;
    decltype(&::archive_entry_filetype) entry_filetype;
    decltype(&::archive_entry_size) entry_size;
    decltype(&::archive_entry_set_pathname) entry_set_pathname;
    decltype(&::archive_entry_set_symlink) entry_set_symlink;
    decltype(&::archive_entry_set_filetype) entry_set_filetype;
    decltype(&::archive_entry_set_perm) entry_set_perm;
    decltype(&::archive_entry_set_size) entry_set_size;
    decltype(&::archive_entry_set_mtime) entry_set_mtime;
};

inline constexpr const char* archive_library_names[] = {"libarchive.so.13"};  // NOLINT(modernize-avoid-c-arrays)

/// The first of `names` that opens and has every function. It stays open: libraries behind it have exit handlers.
[[nodiscard]] Result<ArchiveLibrary> open_archive_library(std::span<const char* const> names = archive_library_names);

}  // namespace gdrcheck::snapshot

#endif

#include "common/snapshot/archive_library.hpp"

#ifdef GDRCHECK_LIBARCHIVE_HEADERS

#include <dlfcn.h>

#include <array>
#include <string>
#include <type_traits>

namespace gdrcheck::snapshot {
namespace {

struct Symbol {
    const char* name;
    void (*store)(ArchiveLibrary&, void*);
};

template <auto Member>
void store(ArchiveLibrary& library, void* address) {
    library.*Member = reinterpret_cast<std::remove_reference_t<decltype(library.*Member)>>(address);
}

using Library = ArchiveLibrary;
constexpr auto symbols = std::to_array<Symbol>({
    {"archive_read_new", store<&Library::read_new>},
    {"archive_read_free", store<&Library::read_free>},
    {"archive_read_support_filter_gzip", store<&Library::read_support_filter_gzip>},
    {"archive_read_support_filter_xz", store<&Library::read_support_filter_xz>},
    {"archive_read_support_filter_zstd", store<&Library::read_support_filter_zstd>},
    {"archive_read_support_format_tar", store<&Library::read_support_format_tar>},
    {"archive_read_open_fd", store<&Library::read_open_fd>},
    {"archive_read_next_header", store<&Library::read_next_header>},
    {"archive_read_data", store<&Library::read_data>},
    {"archive_filter_count", store<&Library::filter_count>},
    {"archive_filter_bytes", store<&Library::filter_bytes>},
    {"archive_write_new", store<&Library::write_new>},
    {"archive_write_free", store<&Library::write_free>},
    {"archive_write_add_filter_gzip", store<&Library::write_add_filter_gzip>},
    {"archive_write_set_filter_option", store<&Library::write_set_filter_option>},
    {"archive_write_set_format_pax_restricted", store<&Library::write_set_format_pax_restricted>},
    {"archive_write_open_fd", store<&Library::write_open_fd>},
    {"archive_write_header", store<&Library::write_header>},
    {"archive_write_data", store<&Library::write_data>},
    {"archive_write_close", store<&Library::write_close>},
    {"archive_error_string", store<&Library::error_string>},
    {"archive_errno", store<&Library::error_number>},
    {"archive_entry_new", store<&Library::entry_new>},
    {"archive_entry_free", store<&Library::entry_free>},
    {"archive_entry_pathname", store<&Library::entry_pathname>},
    {"archive_entry_pathname_utf8", store<&Library::entry_pathname_utf8>},
    {"archive_entry_hardlink", store<&Library::entry_hardlink>},
    {"archive_entry_symlink", store<&Library::entry_symlink>},
    {"archive_entry_filetype", store<&Library::entry_filetype>},
    {"archive_entry_size", store<&Library::entry_size>},
    {"archive_entry_set_pathname", store<&Library::entry_set_pathname>},
    {"archive_entry_set_symlink", store<&Library::entry_set_symlink>},
    {"archive_entry_set_filetype", store<&Library::entry_set_filetype>},
    {"archive_entry_set_perm", store<&Library::entry_set_perm>},
    {"archive_entry_set_size", store<&Library::entry_set_size>},
    {"archive_entry_set_mtime", store<&Library::entry_set_mtime>},
});
static_assert(symbols.size() * sizeof(void*) == sizeof(ArchiveLibrary), "every function has its symbol");

}  // namespace

Result<ArchiveLibrary> open_archive_library(std::span<const char* const> names) {
    std::string why;
    for (const char* name : names) {
        void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) {
            const char* text = ::dlerror();
            why += (why.empty() ? "" : "; ") + std::string(text != nullptr ? text : name);
            continue;
        }
        ArchiveLibrary library{};
        for (const Symbol& symbol : symbols) {
            void* address = ::dlsym(handle, symbol.name);
            if (address == nullptr) return fail(std::string(name) + " has no " + symbol.name + "; it is too old");
            symbol.store(library, address);
        }
        return library;
    }
    return fail("snapshots need libarchive, which does not load (" + why +
                "); install libarchive13 (Debian, Ubuntu) or " +
                "libarchive (RHEL, SUSE), or unpack the archive and give its directory");
}

}  // namespace gdrcheck::snapshot

#endif

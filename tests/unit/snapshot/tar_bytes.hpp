// Tar archives made byte by byte: what no well-behaved program writes.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace gdrcheck::test {

struct TarEntry {
    std::string name;
    char type =
        '0';  ///< '0' file, '1' hard link, '2' link, '3' character device, '4' block device, '5' directory, '6' FIFO
    std::string data;
    std::string target;
    std::size_t claimed_size = 0;  ///< written into the header instead of data.size() when not 0
};

inline void put(std::string& block, std::size_t at, std::string_view text) {
    std::copy(text.begin(), text.end(), block.begin() + static_cast<std::ptrdiff_t>(at));
}

inline std::string octal(std::size_t value, int width) {
    char text[32];  // NOLINT(modernize-avoid-c-arrays)
    std::snprintf(text, sizeof text, "%0*zo", width, value);
    return text;
}

inline std::string tar_block(std::string_view name, char type, std::size_t size, std::string_view target) {
    std::string block(512, '\0');
    put(block, 0, name.substr(0, 100));
    put(block, 100, "0000644");
    put(block, 108, "0000000");
    put(block, 116, "0000000");
    put(block, 124, octal(size, 11));
    put(block, 136, "00000000001");
    put(block, 148, "        ");
    block[156] = type;
    put(block, 157, target.substr(0, 100));
    put(block, 257, std::string_view("ustar\00000", 8));
    std::size_t sum = 0;
    for (const char c : block) sum += static_cast<unsigned char>(c);
    put(block, 148, octal(sum, 6) + std::string("\0 ", 2));
    return block;
}

inline std::string tar_bytes(const std::vector<TarEntry>& entries) {
    std::string tar;
    for (const TarEntry& entry : entries) {
        if (entry.name.size() > 100) tar += tar_block("././@LongLink", 'L', entry.name.size(), {}) + entry.name;
        tar.resize((tar.size() + 511) / 512 * 512);
        const std::size_t size = entry.claimed_size != 0 ? entry.claimed_size : entry.data.size();
        tar += tar_block(entry.name, entry.type, size, entry.target) + entry.data;
        tar.resize((tar.size() + 511) / 512 * 512);
    }
    return tar + std::string(1024, '\0');
}

}  // namespace gdrcheck::test

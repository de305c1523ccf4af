// Which files a scrubbed snapshot keeps, and how.
#pragma once

#include <optional>
#include <string_view>

namespace gdrcheck::snapshot {

enum class Rule {
    keep,       ///< as it is: numbers, states, versions, product names, files of a distribution
    text,       ///< what is known by its form: scrub_text
    free_text,  ///< and the host's names and IP addresses: scrub_free_text
    comments,   ///< free text without lines that begin with #
    settings,   ///< nccl.conf: comments, without values of variables that decide nothing here
    xml,        ///< topology files: free text without comments
    serial,     ///< the whole line is a serial number
    host,       ///< the whole file becomes the host's replacement
    vpd,
    config_space,
    cpuinfo,       ///< without serial numbers
    command_line,  ///< /proc/cmdline: only parameters of the parts that matter here
    modules,       ///< /proc/modules, without addresses
    symbols,       ///< /proc/kallsyms, without addresses; the values of __crc_ symbols are checksums and stay
    kernel_log,    ///< lines that speak of the parts that matter here
    object,        ///< a kernel module: the host's name inside (its signer, build paths) overwritten
};

/// nullopt: no rule knows the file, it is left out.
[[nodiscard]] std::optional<Rule> rule_for(std::string_view path);

}  // namespace gdrcheck::snapshot

// The lines of an order or answer, taken one by one: what was not taken at the end is an error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace gdrcheck::order {

class KeyValues {
  public:
    /// Checks the head, the end, the size and that every byte is printable.
    [[nodiscard]] static Result<KeyValues> parse(std::string_view text, std::string_view head);

    [[nodiscard]] std::string text(const char* key);
    [[nodiscard]] bool truth(const char* key);
    [[nodiscard]] std::int64_t number(const char* key, std::int64_t least, std::int64_t most);
    /// "none" is nullopt.
    [[nodiscard]] std::optional<int> limit(const char* key);
    /// The place of the word among `words`.
    template <class Words>
    [[nodiscard]] std::size_t word(const char* key, const Words& words) {
        const auto value = text(key);
        for (std::size_t place = 0; place < words.size(); ++place)
            if (value == words[place]) return place;
        complain(key);
        return 0;
    }

    void complain(const std::string& key);
    /// nullopt: everything was there and made sense, and nothing is left.
    [[nodiscard]] std::optional<std::string> complaint() const;

  private:
    std::map<std::string, std::string, std::less<>> values_;
    std::string complaint_;
};

}  // namespace gdrcheck::order

// "Did you mean": one function for keys, values, operators, verbs and flags.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace openreg_gen {

/// Edits (insert, delete, replace, swap neighbours) from `a` to `b`, in bytes; gives up above `limit`: limit + 1.
int edit_distance(std::string_view a, std::string_view b, int limit);

/// The candidate closest to `word`, first wins; empty if none is close (a third of the word, at least 1, at most 4).
/// A difference in letter case doesn't count.
std::string_view closest(std::string_view word, std::span<const std::string_view> candidates);

/// "did you mean 'x'?", or "one of: a, b, c" for a short list without anything close, or empty.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

/// "did you mean 'x'? One of: a, b, c", of a word that has to be one of these, however many they are.
std::string one_of(std::string_view word, std::span<const std::string_view> words);

}  // namespace openreg_gen

// The exercises of the book (docs/book), in their order: a lesson's number is its place here, from 1. Templates see the
// word: `when: lesson.guard`.
#pragma once

#include <array>
#include <string_view>

namespace openreg_gen {

inline constexpr std::array<std::string_view, 31> kLessons = {
    "where",   "way",   "deleter",      "owner",   "stride",  "gaps",     "signature", "nan",
    "layouts", "guard", "registration", "restore", "wait",    "reuse",    "item",      "hidden",
    "hooks",   "fork",  "composite",    "choose",  "meta",    "autocast", "saved",     "flush",
    "record",  "judge", "waits",        "writes",  "program", "release",  "conflict"};

}  // namespace openreg_gen

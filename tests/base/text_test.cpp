// Functions that return views refuse what would be gone before the views are read.
#include "base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace openreg_gen {
namespace {

#define VIEWS(name, call)  \
  template <typename Text> \
  concept name = requires(Text&& text) { call(std::forward<Text>(text)); }
VIEWS(Words, words_of);
VIEWS(Lines, split_lines);
VIEWS(LinesWithEnds, lines_with_ends);
VIEWS(Trimmed, trimmed);
VIEWS(WithoutMark, without_byte_order_mark);
#undef VIEWS
template <typename Text>
concept WordOf = requires(Text&& text) { word_of(std::forward<Text>(text), 0); };

template <typename Text>
constexpr bool kAll =
    Words<Text> && Lines<Text> && LinesWithEnds<Text> && Trimmed<Text> && WithoutMark<Text> && WordOf<Text>;
template <typename Text>
constexpr bool kAny =
    Words<Text> || Lines<Text> || LinesWithEnds<Text> || Trimmed<Text> || WithoutMark<Text> || WordOf<Text>;

static_assert(!kAny<std::string>, "a temporary string would be freed before its views are read");
static_assert(!kAny<const std::string>);
static_assert(!kAny<int>);
static_assert(kAll<std::string&> && kAll<const std::string&>);
static_assert(kAll<const char (&)[4]> && kAll<const char*> && kAll<const char*&>);
static_assert(kAll<std::string_view> && kAll<std::string_view&> && kAll<const std::string_view&>);
static_assert(kAll<BorrowedText> && kAll<BorrowedText&>);

template <typename List>
concept Searched = requires(List&& list) {
  find_by(std::forward<List>(list), 1, std::identity());
  find_sorted(std::forward<List>(list), 1, std::identity());
};
static_assert(!Searched<std::vector<int>>, "the element would be freed with its list");
static_assert(Searched<std::vector<int>&> && Searched<const std::vector<int>&>);

TEST(BorrowedText, IsTheTextItself) {
  const std::string text = " a\r\nb ";
  EXPECT_EQ(trimmed(text).data(), text.data() + 1);
  EXPECT_EQ(split_lines(text), (std::vector<std::string_view>{" a", "b "}));
  EXPECT_EQ(lines_with_ends("a\nb"), (std::vector<std::string_view>{"a\n", "b"}));
  EXPECT_EQ(words_of(" one  two"), (std::vector<std::string_view>{"one", "two"}));
  EXPECT_EQ(word_of("zero one", 1), "one");
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB\xBFx"), "x");
  EXPECT_EQ(without_byte_order_mark("x"), "x");
}

}  // namespace
}  // namespace openreg_gen

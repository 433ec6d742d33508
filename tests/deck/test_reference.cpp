#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "tessera/deck/keys.hpp"

namespace tessera::deck {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

TEST(Reference, DocsAreUpToDate) {
  const std::string path = TESSERA_DECK_REFERENCE;
  if (std::getenv("TESSERA_UPDATE_REFERENCE")) std::ofstream(path) << reference();
  EXPECT_EQ(contents(path), reference())
      << "docs/deck.md does not say what src/deck/ does; run this program with "
         "TESSERA_UPDATE_REFERENCE=1 and commit the page";
}

TEST(Reference, NamesEveryKeyInItsSection) {
  const std::string page = reference();
  Deck deck;
  for (const Key& key : keys(deck)) {
    const std::size_t dot = key.name.find('.');
    if (dot == std::string::npos) continue;
    const std::size_t section = page.find("\n## [" + key.name.substr(0, dot) + "]\n");
    ASSERT_NE(section, std::string::npos) << key.name;
    const std::size_t row = page.find("\n| `" + key.name.substr(dot + 1) + "` |", section);
    EXPECT_LT(row, page.find("\n## ", section + 1)) << key.name;
  }
}

TEST(Reference, RowsShowTypeDefaultAndRange) {
  EXPECT_THAT(reference(), testing::HasSubstr("| `epochs` | whole number | `100` | 1 to 1e6 | "));
  EXPECT_THAT(reference(),
              testing::HasSubstr("| `tiles` | list of 2 whole numbers | `\"auto\"` | "));
}

}  // namespace
}  // namespace tessera::deck

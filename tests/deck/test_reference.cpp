#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "deck/keys.hpp"
#include "deck/methods.hpp"

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
  for (const std::string& method : method_names()) {
    Deck deck;
    deck.solvers = {Solver::of(method)};
    for (const Key& key : keys(deck)) {
      const std::size_t dot = key.name.find('.');
      if (dot == std::string::npos) continue;
      const std::size_t section = page.find("\n## [" + key.name.substr(0, dot) + "]\n");
      ASSERT_NE(section, std::string::npos) << key.name;
      const std::size_t row = page.find("\n| `" + key.name.substr(dot + 1) + "` |", section);
      EXPECT_LT(row, page.find("\n## ", section + 1)) << key.name;
    }
  }
}

/// The keys below a method's heading are those that it takes.
TEST(Reference, ListsAMethodsKeysBelowIt) {
  const std::string page = reference();
  for (const std::string& method : method_names()) {
    const std::size_t heading = page.find("\n- `" + method + "`: ");
    ASSERT_NE(heading, std::string::npos) << method;
    const std::size_t end = page.find("\n##", heading);
    for (const Key& key : Solver::of(method).own_keys())
      EXPECT_LT(page.find("\n| `" + key.name + "` |", heading), end) << method << ' ' << key.name;
  }
}

TEST(Reference, TheTableOfMethodsAndModelsIsUpToDate) {
  const std::string path = TESSERA_METHODS_PAGE;
  std::string page = contents(path);
  const std::size_t begin = page.find("| `solver.method` |");
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = page.find("\n\n", begin) + 1;
  if (std::getenv("TESSERA_UPDATE_REFERENCE")) {
    page.replace(begin, end - begin, methods_page());
    std::ofstream(path) << page;
  }
  EXPECT_THAT(contents(path), testing::HasSubstr("\n\n" + methods_page() + "\n"))
      << "docs/methods.md does not say what the methods' settings do; run this program with "
         "TESSERA_UPDATE_REFERENCE=1 and commit the page";
}

TEST(Reference, RowsShowTypeDefaultAndRange) {
  EXPECT_THAT(reference(), testing::HasSubstr("| `epochs` | whole number | `100` | 1 to 1e6 | "));
  EXPECT_THAT(reference(),
              testing::HasSubstr("| `tiles` | list of 2 whole numbers | `\"auto\"` | "));
}

}  // namespace
}  // namespace tessera::deck

#include "settings/solver.hpp"

#include <algorithm>

#include "tessera/base/text.hpp"

namespace tessera::settings {
namespace {

template <class... Family>
std::vector<Method<OwnSettings>> methods_of(const std::variant<Family...>*) {
  std::vector<Method<OwnSettings>> all;
  const auto append = [&](const auto& of_family) {
    for (const auto& [name, meaning, excludes, start, batch_coverage] : of_family)
      all.push_back({name, meaning, excludes, start, batch_coverage});
  };
  (append(Family::methods()), ...);
  return all;
}

constexpr double usual_scan_coverage = 48;      ///< from where on batches cover more
constexpr double greatest_batch_coverage = 16;  ///< unless a deck asks for more

auto find_method(std::string_view name) {
  return std::ranges::find(methods(), name, &Method<OwnSettings>::name);
}

}  // namespace

const std::vector<Method<OwnSettings>>& methods() {
  static const std::vector<Method<OwnSettings>> all =
      methods_of(static_cast<OwnSettings*>(nullptr));
  return all;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& method : methods()) names.push_back(method.name);
  return names;
}

bool allows(std::string_view method, Option option) {
  const auto found = find_method(method);
  return found == methods().end() || std::ranges::count(found->excludes, option) == 0;
}

std::vector<std::string> method_words() {
  std::vector<std::string> words = method_names();
  words.emplace_back(automatic);
  return words;
}

std::vector<std::string> methods_with_key(std::string_view name) {
  std::vector<std::string> with_key;
  for (const std::string& method : method_names())
    if (std::ranges::count(Solver::of(method).own_keys(), name, &Key::name) > 0)
      with_key.push_back(method);
  return with_key;
}

Solver Solver::of(std::string_view method) {
  if (method == automatic) return {.method = std::string(automatic)};
  const Method<OwnSettings>& found = *find_method(method);
  Solver solver{.method = found.name, .own = found.start};
  if (!allows(method, Option::batches)) solver.batch_size = 0;
  return solver;
}

double default_batch_coverage(std::string_view method, double scan_coverage) {
  const double least = find_method(method)->batch_coverage;
  return std::clamp(least * scan_coverage / usual_scan_coverage, least, greatest_batch_coverage);
}

std::string default_batch_coverages() {
  const double usual = Method<OwnSettings>{}.batch_coverage;
  std::string all;
  for (const auto& method : methods())
    if (method.batch_coverage != usual)
      all += number_text(method.batch_coverage) + " for `" + method.name + "`, ";
  return all + (all.empty() ? "" : "else ") + number_text(usual) +
         ", and of a scan that is covered more than " + number_text(usual_scan_coverage) +
         " times as much more, up to " + number_text(greatest_batch_coverage);
}

std::vector<Solver> Solver::recipe(bool has_slices) const {
  Solver find = *this;
  find.method = "lsqml";
  find.own = Lsqml{.steps = {.object = 1, .probe = 1}, .alphas = {.object = has_slices ? 1 : 0.3}};
  Solver settle = find;
  settle.method = "ml";
  settle.own = Descent{};
  settle.batch_size = 0;
  settle.batch_coverage.reset();
  settle.epochs = has_slices ? std::min(epochs / 4, 25) : epochs / 2;
  find.epochs -= settle.epochs;
  if (settle.epochs == 0) return {find};
  return {find, settle};
}

std::vector<Key> Solver::own_keys() {
  if (method == automatic) return {};
  std::vector<Key> keys = std::visit([](auto& of_family) { return of_family.keys(); }, own);
  std::erase_if(keys, [&](const Key& key) {
    return !key.methods.empty() && std::ranges::count(key.methods, method) == 0;
  });
  return keys;
}

void Solver::check(const std::string& section) const {
  if (batch_size && batch_coverage)
    require(false, text(section, ".batch_size = ", *batch_size, " and ", section,
                        ".batch_coverage = ", number_text(*batch_coverage),
                        " both say how large a batch is; leave one out, or set it to \"auto\""));
  std::visit(
      [&](const auto& of_family) {
        if constexpr (requires { of_family.check(method, section); })
          of_family.check(method, section);
      },
      own);
}

}  // namespace tessera::settings

#pragma once
/// ePIE, rPIE and mPIE.

#include <string>
#include <utility>
#include <vector>

#include "tessera/base/text.hpp"

#include "settings/method.hpp"
#include "settings/steps.hpp"

namespace tessera::settings {

struct Pie {
  Steps steps = {};
  Alphas alphas = {};
  StepSchedule schedule = {};
  double momentum = 0;

  static std::vector<Method<Pie>> methods() {
    return {
        {"epie",
         "`rpie` with both alphas 1: slower but steadier.",
         {},
         {.steps = {.object = 1, .probe = 0.5}}},
        {"rpie",
         "Regularised PIE (Maiden, Johnson & Li 2017, Optica 4, 736) in batches. With batch_size "
         "above 1 it is not the sequential PIE, in which every position sees the one before; nor "
         "is `epie`.",
         {},
         {.steps = {.object = 1, .probe = 0.5}, .alphas = {.object = 0.3, .probe = 0.3}}},
        {"mpie",
         "`rpie` with momentum.",
         {},
         {.steps = {.object = 1, .probe = 0.5},
          .alphas = {.object = 0.3, .probe = 0.3},
          .momentum = 0.5},
         4},
    };
  }

  std::vector<Key> keys() {
    return joined(
        {steps.keys(), alphas.keys(), schedule.keys(), {momentum_key(momentum, {"mpie"})}});
  }

  /// @param section of the deck, for messages
  /// @throws InputError
  void check(const std::string& method, const std::string& section) const {
    if (method == "epie")
      for (const auto& [name, alpha] :
           {std::pair{"object", alphas.object}, std::pair{"probe", alphas.probe}})
        require(alpha == 1,
                text(section, ".", name, "_alpha = ", number_text(alpha), " contradicts ", section,
                     ".method = \"epie\", whose alphas are 1; leave it out or use "
                     "\"rpie\""));
    require(method != "mpie" || momentum > 0,
            text(section, ".momentum = 0 contradicts ", section,
                 ".method = \"mpie\", which is \"rpie\" with momentum; give it above 0, such as "
                 "0.5, or use \"rpie\""));
  }
};

}  // namespace tessera::settings

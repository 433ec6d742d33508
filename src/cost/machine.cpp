#include "cost/machine.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tessera::cost {
namespace {

/// Where x lies among ascending places: number `low` and the part of the way to the next.
struct Between {
  std::size_t low = 0;
  double part = 0;

  double operator()(double a, double b) const { return a + part * (b - a); }
};

template <class Rows, class PlaceOf>
Between between(const Rows& rows, double x, const PlaceOf& place_of) {
  Between at;
  if (x <= place_of(rows.front())) return at;
  at.low = rows.size() - 1;
  if (x >= place_of(rows.back())) return at;
  while (place_of(rows[at.low]) > x) --at.low;
  const double low = place_of(rows[at.low]);
  at.part = (x - low) / (place_of(rows[at.low + 1]) - low);
  return at;
}

Between among_ranks(const Machine& machine, int n_ranks) {
  return between(machine.links, n_ranks, [](const Link& link) { return double(link.n_ranks); });
}

}  // namespace

double cached_px(const Machine& machine) {
  constexpr int reals = 5;  // two complex numbers and one real
  return machine.cache_bytes / (reals * machine.real_bytes);
}

double turns(const Machine& machine, int n_ranks) {
  if (machine.cores == 0) return 1;
  const int on_host = std::min(n_ranks, machine.links.back().n_ranks);
  return std::max(1.0, static_cast<double>(on_host) / machine.cores);
}

WindowRates rates_for(const Machine& machine, double window_px, int n_ranks) {
  const Between at = between(machine.windows, std::log2(window_px),
                             [](const WindowRates& rates) { return std::log2(rates.window_px); });
  const WindowRates& a = machine.windows[at.low];
  const WindowRates& b = machine.windows[std::min(at.low + 1, machine.windows.size() - 1)];
  const Between among = among_ranks(machine, n_ranks);
  const auto slowdown_of = [&](const WindowRates& rates) {
    const std::size_t next = std::min(among.low + 1, rates.slowdown.size() - 1);
    return among(rates.slowdown[among.low], rates.slowdown[next]);
  };
  const double slowdown = turns(machine, n_ranks) * at(slowdown_of(a), slowdown_of(b));
  const double pixels = window_px * window_px;
  WindowRates rates{
      .window_px = window_px, .at_once = a.at_once, .at_least = a.at_least, .slowdown = {1}};
  for (const auto rate : {&WindowRates::touched_px_s, &WindowRates::batch_s, &WindowRates::epoch_s})
    rates.*rate = slowdown * at(a.*rate, b.*rate);
  for (const auto rate :
       {&WindowRates::position_s, &WindowRates::wave_s, &WindowRates::wave_of_modes_s,
        &WindowRates::few_wave_s, &WindowRates::far_wave_s, &WindowRates::shift_s,
        &WindowRates::chip_shift_s, &WindowRates::batch_mode_s, &WindowRates::transform_s})
    rates.*rate = slowdown * pixels *
                  at(a.*rate / (a.window_px * a.window_px), b.*rate / (b.window_px * b.window_px));
  return rates;
}

Link link_for(const Machine& machine, int n_ranks) {
  const Between at = among_ranks(machine, n_ranks);
  const Link& a = machine.links[at.low];
  const Link& b = machine.links[std::min(at.low + 1, machine.links.size() - 1)];
  // One rank sends nothing: from it there is no straight line.
  if (a.n_ranks == 1) return n_ranks == 1 ? a : b;
  const auto value = [&](double Link::* rate) { return at(a.*rate, b.*rate); };
  return {n_ranks, value(&Link::latency_s), value(&Link::bytes_per_s),
          value(&Link::all_reduce_step_s), value(&Link::all_reduce_bytes_per_s)};
}

}  // namespace tessera::cost

#pragma once
/// The key table, section by section.

#include <string>
#include <vector>

#include "tessera/deck/keys.hpp"

namespace tessera::deck {

/// From when on something is done.
/// @param what ends the words "First epoch, from 0, "
Key first_epoch(const std::string& name, Field field, const std::string& what);

std::vector<Key> data_keys(Data& data);
std::vector<Key> experiment_keys(Experiment& experiment);
std::vector<Key> probe_keys(Probe& probe);
std::vector<Key> object_keys(Object& object);
/// @param section the first part of their names
std::vector<Key> solver_keys(Solver& solver, const std::string& section);
std::vector<Key> refine_keys(Refine& refine);
std::vector<Key> stop_keys(Stop& stop);
std::vector<Key> validation_keys(Validation& validation);
std::vector<Key> constraint_keys(Constraints& constraints);
std::vector<Key> decomposition_keys(Decomposition& decomposition);
std::vector<Key> run_keys(Run& run);
std::vector<Key> output_keys(Output& output);
std::vector<Key> simulation_keys(Simulation& simulation);

}  // namespace tessera::deck

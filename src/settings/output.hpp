#pragma once
/// What a run writes.

#include <string>
#include <vector>

#include "settings/key.hpp"

namespace tessera::settings {

struct Output {
  std::string file = "result.h5";
  std::string fallback;
  std::string pictures;
  std::string report;
  int save_every_epochs = 0;
  double save_every_minutes = 0;
  std::string on_usr1 = "stop";
  bool save_memory = false;
  int writers_per_host = 8;

  std::vector<Key> keys() {
    return {
        {.name = "file",
         .field = &file,
         .meaning = "HDF5 file of the result: object, probe, positions, history and resolved deck.",
         .is_path = true},
        {.name = "fallback",
         .field = &fallback,
         .meaning =
             "Result file for a disk that is full at the end of a run, on another disk: used once "
             "output.file could not be written for decomposition.timeout_s, or at once after "
             "a signal or at the job's end; empty: none.",
         .is_path = true},
        {.name = "pictures",
         .field = &pictures,
         .meaning = "Folder for PNG pictures of object and probe; empty: none.",
         .is_path = true},
        {.name = "report",
         .field = &report,
         .meaning = "HTML page that shows the result, as `tessera report` writes it; empty: none.",
         .is_path = true},
        {.name = "save_every_epochs",
         .field = &save_every_epochs,
         .meaning =
             "Epochs between saved states from which a run can resume; 0: only at the end. Set "
             "it for jobs that may hit a time limit.",
         .min = 0,
         .max = 1000000},
        {.name = "save_every_minutes",
         .field = &save_every_minutes,
         .meaning = "Minutes between saved states, in place of epochs or beside them: the first "
                    "epoch that ends later saves; 0: never.",
         .min = 0,
         .max = 1e6},
        {.name = "on_usr1",
         .field = &on_usr1,
         .meaning = "What SIGUSR1 does after the epoch under way: end the run with its result, or "
                    "save it and go on. SIGTERM and SIGINT always end it.",
         .choices = {"stop", "save"}},
        {.name = "save_memory",
         .field = &save_memory,
         .meaning = "Save what a method remembers for every position, too: the waves of `dm` and "
                    "`raar`, a few times the scan. Without them a resumed run starts its waves "
                    "anew; what other methods remember is always saved."},
        {.name = "writers_per_host",
         .field = &writers_per_host,
         .meaning = "Ranks of a host that write a result and saves, for its others, too; where "
                    "one of them would get more than 256 MiB, every rank writes for itself.",
         .min = 1,
         .max = 1024},
    };
  }
};

}  // namespace tessera::settings

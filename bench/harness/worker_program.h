// WorkerProgram runs a program that does a piece of work for each line on its standard input and
// prints the time of each. One contender of a contest is one program: it is started under `cairn
// run` or without it, and its processor time is the contender's.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace cairn::bench {

class WorkerProgram {
 public:
  // words: the program and its arguments. The program must end when its input ends.
  explicit WorkerProgram(const std::vector<std::string>& words);
  // Ends the benchmark if the program failed.
  ~WorkerProgram();
  WorkerProgram(const WorkerProgram&) = delete;
  WorkerProgram& operator=(const WorkerProgram&) = delete;

  struct Took {
    double wall_ns;  // printed by the program
    // Processor time of the program and of all processes below it since the end of the last piece
    // of work. Work that a thread or another process does in between counts as well.
    double processor_ns;
  };
  Took run(const std::string& work);

 private:
  std::string name_;
  pid_t pid_ = 0;
  FILE* to_ = nullptr;
  FILE* from_ = nullptr;
  double processor_before_ = -1;  // negative before the first piece of work
};

// Returns the nanoseconds of processor time of a process, of the processes below it, and of the
// ended ones that they waited for. The kernel tells the last part to 10 ms.
double processor_time_of_tree(pid_t root);

// This program's file, to start it anew as a worker.
std::string own_program();
// The command `cairn` of the same build.
std::string cairn_program();

}  // namespace cairn::bench

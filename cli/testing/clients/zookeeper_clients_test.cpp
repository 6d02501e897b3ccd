// ZooKeeper's client libraries and their own lock recipes against a served server, where they are installed.

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include <unistd.h>

#include "cli/testing/clients/client_library_testing.hpp"

namespace lockstep::zookeeper_clients_test {
namespace {

/// A library that visits servers of its own; others may visit theirs at the same time.
class Visit {
 public:
  /// `command` gets the ports of all servers.
  Visit(const std::string& command, const std::string& story) : served_({in_tree("door/clients/" + story)}) {
    std::string ports;
    for (const int port : served_.ports) ports += (ports.empty() ? "" : ",") + std::to_string(port);
    pipe_ = popen(("timeout 120 " + command + " " + ports + " 2>&1").c_str(), "r");
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() {
    if (pipe_ != nullptr) pclose(pipe_);
  }
  void check() {
    REQUIRE(pipe_ != nullptr);
    const cli::Ended ended = cli::end_of(std::exchange(pipe_, nullptr));
    std::cout << ended.output;
    INFO(ended.output);
    CHECK(ended.exit == 0);
    CHECK(ended.output.ends_with(" agrees\n"));
  }

 private:
  cli::Served served_;
  FILE* pipe_ = nullptr;
};

/// Null where there is no such library.
using Begun = std::unique_ptr<Visit>;

Begun begin_kazoo(const std::string& program, const std::string& story) {
  const char* chosen = std::getenv("LOCKSTEP_PYTHON");
  const std::string python = chosen != nullptr ? chosen : "/usr/bin/python3";
  if (cli::output_of(python + " -c 'import kazoo'").exit != 0) {
    std::cout << "SKIPPED: " << python << " has no module kazoo (Debian: python3-kazoo); no library was tried\n";
    return nullptr;
  }
  return std::make_unique<Visit>(python + " " + in_tree("door/clients/" + program), story);
}

Begun begin_curator(const std::string& program, const std::string& story) {
  constexpr std::array kJars{"curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute",
                             "guava",           "slf4j-api",         "slf4j-nop"};
  std::string jars;
  for (const char* jar : kJars) {
    const std::string path = std::string("/usr/share/java/") + jar + ".jar";
    if (access(path.c_str(), R_OK) != 0) {
      std::cout << "SKIPPED: there is no " << path << " (Debian: libcurator-recipes-java); no library was tried\n";
      return nullptr;
    }
    jars += (jars.empty() ? "" : ":") + path;
  }
  if (cli::output_of("javac -version").exit != 0) {
    std::cout << "SKIPPED: there is no javac (Debian: default-jdk-headless); no library was tried\n";
    return nullptr;
  }
  return std::make_unique<Visit>(
      "java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp " + jars + " " + in_tree("door/clients/" + program), story);
}

}  // namespace

TEST_CASE("kazoo locks, waits, counts leases, reads and writes, and loses what a killed or stopped process held") {
  if (const Begun kazoo = begin_kazoo("kazoo_locks.py", "zookeeper.toml")) kazoo->check();
}

TEST_CASE("Curator locks, counts leases, reads and writes; a short cut takes nothing from it, a long one all") {
  if (const Begun curator = begin_curator("CuratorLocks.java", "zookeeper.toml")) curator->check();
}

TEST_CASE("the locks of kazoo and Curator outlive the leader of an ensemble") {
  // Both wait for the 12 s until it dies: together.
  const Begun kazoo = begin_kazoo("kazoo_ensemble.py", "zookeeper_ensemble.toml");
  const Begun curator = begin_curator("CuratorEnsemble.java", "zookeeper_ensemble.toml");
  if (kazoo != nullptr) kazoo->check();
  if (curator != nullptr) curator->check();
}

}  // namespace lockstep::zookeeper_clients_test

// ZooKeeper's client libraries and their own lock recipes against a served server, where they are installed.

#include <catch2/catch.hpp>

#include <array>
#include <iostream>
#include <string>

#include <unistd.h>

#include "cli/testing/clients/client_library_testing.hpp"

namespace lockstep::zookeeper_clients_test {
namespace {

/// `command` gets the ports of all servers.
void check_library(const std::string& command, const std::string& story) {
  const cli::Served served({in_tree("door/clients/" + story)});
  std::string ports;
  for (const int port : served.ports) ports += (ports.empty() ? "" : ",") + std::to_string(port);
  const cli::Ended ended = cli::output_of("timeout 120 " + command + " " + ports);
  std::cout << ended.output;
  INFO(ended.output);
  CHECK(ended.exit == 0);
  CHECK(ended.output.ends_with(" agrees\n"));
}

void check_kazoo(const std::string& program, const std::string& story) {
  const char* chosen = std::getenv("LOCKSTEP_PYTHON");
  const std::string python = chosen != nullptr ? chosen : "/usr/bin/python3";
  if (cli::output_of(python + " -c 'import kazoo'").exit != 0) {
    std::cout << "SKIPPED: " << python << " has no module kazoo (Debian: python3-kazoo); no library was tried\n";
    return;
  }
  check_library(python + " " + in_tree("door/clients/" + program), story);
}

void check_curator(const std::string& program, const std::string& story) {
  constexpr std::array kJars{"curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute",
                             "guava",           "slf4j-api",         "slf4j-nop"};
  std::string jars;
  for (const char* jar : kJars) {
    const std::string path = std::string("/usr/share/java/") + jar + ".jar";
    if (access(path.c_str(), R_OK) != 0) {
      std::cout << "SKIPPED: there is no " << path << " (Debian: libcurator-recipes-java); no library was tried\n";
      return;
    }
    jars += (jars.empty() ? "" : ":") + path;
  }
  if (cli::output_of("javac -version").exit != 0) {
    std::cout << "SKIPPED: there is no javac (Debian: default-jdk-headless); no library was tried\n";
    return;
  }
  check_library("java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp " + jars + " " + in_tree("door/clients/" + program),
                story);
}

}  // namespace

TEST_CASE("kazoo locks, waits, counts leases, reads and writes, and loses what a killed or stopped process held") {
  check_kazoo("kazoo_locks.py", "zookeeper.toml");
}

TEST_CASE("Curator locks, counts leases, reads and writes; a short cut takes nothing from it, a long one all") {
  check_curator("CuratorLocks.java", "zookeeper.toml");
}

TEST_CASE("kazoo's lock outlives the leader of an ensemble") {
  check_kazoo("kazoo_ensemble.py", "zookeeper_ensemble.toml");
}

TEST_CASE("Curator's lock outlives the leader of an ensemble") {
  check_curator("CuratorEnsemble.java", "zookeeper_ensemble.toml");
}

}  // namespace lockstep::zookeeper_clients_test

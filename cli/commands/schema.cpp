#include <memory>
#include <ostream>

#include "cli/arguments/call.hpp"
#include "reports/listing/scenario_schema.hpp"

namespace lockstep::cli {
namespace {

class Schema final : public Call {
 public:
  Manual manual() override {
    return {
        .name = "schema",
        .summary = "the scenario format as a JSON schema, for editors",
        .example = "schema > lockstep.schema.json",
        .head =
            R"(Prints the scenario format as a JSON schema (draft 07). An editor with a TOML extension that knows schemas (Even
Better TOML, Taplo) then completes keys, says what they mean, and marks what is wrong while you write.

usage: lockstep schema

Save it beside your stories, and name it in the first line of each:

  lockstep schema > lockstep.schema.json
  #:schema lockstep.schema.json

lockstep new writes that line where such a file is there. docs/manual/scenario-format.md has more.

)",
        .tail = "\nexample: lockstep schema > lockstep.schema.json\n",
        .json = "",
        .is_laid_out = false,
        .takes_words = false};
  }

  Exit perform(const models::locks::Catalogue& catalogue, Output& output) override {
    output.out << reports::scenario_schema(catalogue);
    return Exit::as_expected;
  }
};

}  // namespace

std::unique_ptr<Call> schema_call() { return std::make_unique<Schema>(); }

}  // namespace lockstep::cli

// cleave trace stats|dump|validate|import|export: look at a trace; text in, text out.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>

#include "base/interrupt.h"
#include "base/mapped_file.h"
#include "base/private_file.h"
#include "base/progress.h"
#include "cli/common.h"
#include "cli/terminal.h"
#include "cli/trace_views.h"
#include "trace/core/load.h"
#include "trace/core/validate.h"
#include "trace/imported/imported_events.h"
#include "trace/text/rapid.h"
#include "trace/text/text.h"

namespace cleave::cli {
namespace {

struct TraceOptions {
  std::string trace;
  std::string output;
  std::string format = "auto";
  DumpOptions dump;
};

// Writes in pieces to a file, or to standard output for `-`; removes nothing on failure but says so.
class Output {
 public:
  explicit Output(const std::string& path)
      : path_(path), file_(path == "-" ? data_output() : open_private(path)) {}
  ~Output() {
    if (file_ != nullptr && path_ != "-") std::fclose(file_);
  }
  bool good() const { return file_ != nullptr && !failed_; }
  void write(std::string_view piece) {
    failed_ |= good() && std::fwrite(piece.data(), 1, piece.size(), file_) != piece.size();
  }
  Error error() const { return Error{path_, "cannot be written"}; }
  bool finish() { return good() && std::fflush(file_) == 0; }

 private:
  static std::FILE* open_private(const std::string& path) {
    Result<int> descriptor = create_private_file(path);
    return descriptor ? fdopen(descriptor.value(), "wb") : nullptr;
  }
  std::string path_;
  std::FILE* file_;
  bool failed_ = false;
};

// A trace as a whole, with a line that says so while that takes long, and a sentence where it ends early.
Result<Trace> load(const std::string& path, const std::function<Result<Trace>()>& how) {
  ProgressLine line(STDERR_FILENO);
  line.progress().begin("reading " + path);
  Result<Trace> trace = how();
  line.clear();
  if (trace && trace.value().ends_early())
    fmt::print(stderr, "cleave: {}\n", ends_early(path, trace.value().size()));
  return trace;
}

Result<Trace> load(const std::string& path) {
  return load(path, [&] { return load_trace(path); });
}

int not_read(const Error& error) { return interrupted() ? unfinished(error) : usage_error(error); }

int run_export(const TraceOptions& options) {
  InterruptScope interrupts;
  Result<Trace> trace = load(options.trace);
  if (!trace) return not_read(trace.error());
  Output output(options.output.empty() ? "-" : options.output);
  if (!output.good()) return usage_error(output.error());
  write_text_trace(trace.value(), [&](std::string_view piece) { output.write(piece); });
  if (!output.finish()) return unfinished(output.error());
  return exit_status(false, trace.value().ends_early());
}

Result<Trace> import_as(const std::string& path, const std::string& format) {
  if (format == "auto") return load_trace(path);
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  return format == "rapid" ? parse_rapid_trace(file.value().bytes(), path)
                           : parse_text_trace(file.value().bytes(), path);
}

int run_import(const TraceOptions& options) {
  InterruptScope interrupts;
  Result<Trace> trace = load(options.trace, [&] { return import_as(options.trace, options.format); });
  if (!trace) return not_read(trace.error());
  std::string path = options.output;
  if (path.empty()) {  // bank.txt becomes bank.cleave, beside it
    size_t dot = options.trace.rfind('.'), slash = options.trace.rfind('/');
    bool extension = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1) && dot > 0;
    path = (extension ? options.trace.substr(0, dot) : options.trace) + ".cleave";
    if (path == options.trace)
      return usage_error({options.trace, "would be overwritten; say where to write with -o FILE"});
  }
  Output output(path);
  if (!output.good()) return usage_error(output.error());
  write_binary_trace(trace.value(), [&](std::string_view piece) { output.write(piece); });
  if (!output.finish()) return unfinished(output.error());
  if (path != "-") fmt::print(stderr, "cleave: {} events written to {}\n", trace.value().size(), path);
  return exit_status(false, trace.value().ends_early());
}

int run_dump(const TraceOptions& options) {
  InterruptScope interrupts;
  Result<Trace> trace = load(options.trace);
  if (!trace) return not_read(trace.error());
  DumpOptions dump = options.dump;
  const char* no_color = std::getenv("NO_COLOR");
  dump.color = isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
  Status status = dump_trace(trace.value(), dump, [](std::string_view piece) {
    std::fwrite(piece.data(), 1, piece.size(), stdout);
  });
  if (!status) return usage_error(status.error());
  for (const std::string& remark : trace.value().remarks())
    fmt::print(stderr, "cleave: {}: {}\n", options.trace, remark);
  return exit_status(false, trace.value().ends_early());
}

int run_validate(const TraceOptions& options) {
  InterruptScope interrupts;
  ProgressLine line(STDERR_FILENO);
  line.progress().begin("events validated");
  Result<OpenedTrace> opened = open_with_remarks(options.trace, &line.progress());
  if (!opened) return line.clear(), not_read(opened.error());
  Result<Validation> validation = validate_trace(*opened.value().source);
  line.clear();
  if (!validation) return not_read(validation.error());
  print_validation(opened.value(), validation.value());
  return exit_status(!validation.value().holds(), !validation.value().complete);
}

int run_stats(const TraceOptions& options) { return print_stats(options.trace); }

CLI::App* add(CLI::App& verb, const char* name, const char* what, std::shared_ptr<TraceOptions> options,
              Context& context, int (*run)(const TraceOptions&)) {
  CLI::App* sub = verb.add_subcommand(name, what);
  sub->add_option("TRACE", options->trace,
                  "a trace that cleave record wrote, or a text trace (ours or RAPID's)")
      ->required();
  sub->callback([options, &context, run] { context.run = [options, run] { return run(*options); }; });
  return sub;
}

}  // namespace

void add_trace_verb(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("trace", "look at a trace, check it, turn it into text and back");
  verb->require_subcommand(1);
  verb->footer("Example: cleave trace dump bank.cleave --thread T1");
  auto options = std::make_shared<TraceOptions>();

  add(*verb, "stats", "events by kind and thread, and what was and was not instrumented (of a program too)",
      options, context, run_stats)
      ->footer("Example: cleave trace stats bank.cleave");

  CLI::App* dump = add(*verb, "dump", "one readable line an event", options, context, run_dump);
  dump->add_option("--thread", options->dump.threads, "only these threads, comma separated")->delimiter(',');
  dump->add_option("--variable", options->dump.variables,
                   "only events on these variables, locks, objects or units; * matches anything")
      ->delimiter(',');
  dump->add_option("--from", options->dump.from, "first event")->check(not_negative())->capture_default_str();
  dump->add_option("--to", options->dump.to, "last event")->check(not_negative());
  dump->add_option("--around", options->dump.around, "the events around this one")->check(not_negative());
  dump->add_option("--context", options->dump.context, "how many before and after, with --around")
      ->check(not_negative())
      ->capture_default_str();
  dump->add_flag("--stack", options->dump.stack, "the call stack of each event");
  dump->footer("Example: cleave trace dump bank.cleave --thread T1,T2 --variable 'Account*'");

  add(*verb, "validate",
      "is every read the last write, every lock held once, every wait woken, every join after its exit?",
      options, context, run_validate)
      ->footer("Example: cleave trace validate bank.cleave");

  CLI::App* import =
      add(*verb, "import", "text (ours or RAPID's) to a binary trace", options, context, run_import);
  import->add_option("-o,--output", options->output,
                     "where to write; without it, beside the text with .cleave");
  import->add_option("--format", options->format, "auto tells by content")
      ->check(CLI::IsMember({"auto", "text", "rapid"}))
      ->capture_default_str();
  import->footer("Example: cleave trace import --format rapid bank.std -o bank.cleave");

  CLI::App* out = add(*verb, "export", "a trace as text; import gives the same trace again", options, context,
                      run_export);
  out->add_option("-o,--output", options->output, "where to write; without it, standard output");
  out->footer("Example: cleave trace export bank.cleave > bank.txt");
}

}  // namespace cleave::cli

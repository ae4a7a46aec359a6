"""What each engine is asked about a program of the suite, and the sentences for what is not as expected."""
import tempfile
from pathlib import Path

from engines import RANDOM_SEEDS, describe, matches, missing, present, stage_counts

# The stages that need no solver: what every program is compared with in `make test`. Where the first of a program's
# runs names a count for `symbolic`, that run goes through all stages there; with --full, every run of every program does.
CHEAP_STAGES = ("patterns", "order", "locks", "filter", "exact")


def engine_options(table):
    return [option for key in ("units", "sets") if key in table for option in (f"--{key}", table[key])]


def predict_run(cleave, program, build, arguments, folder, symbolic):
    trace = Path(folder) / "serial.cleave"
    error = cleave.record(build, arguments, trace, "serial")
    if error:
        return error
    options = ["--no-replay"] if symbolic else ["--all", "--stages", ",".join(CHEAP_STAGES)]
    return cleave.findings("predict", *options, *engine_options(program.expect["predict"]), trace)


def weaker(expectations, symbolic):
    """Nothing is replayed here, so feasible is the most to ask for. Without the symbolic stage: ask for what the locks
    leave, whatever the filter says, since it rightly drops what it cannot judge without the program's data."""
    if not symbolic:
        return [{**expected, "verdict": "infeasible", "stages": {"locks": "kept"}} for expected in expectations]
    return [{**expected, "verdict": "feasible" if expected.get("verdict") != "candidate" else "candidate"}
            for expected in expectations]


def counts_problems(run, result, symbolic):
    counts = stage_counts(result)
    for stage in (*CHEAP_STAGES, *(["symbolic"] if symbolic else [])):
        if stage in run and counts.get(stage) != run[stage]:
            yield f"predict {' '.join(run['args'])}: stage {stage} has {counts.get(stage)} triples, not {run[stage]}"


def predict_problems(cleave, program, full):
    table = program.expect["predict"]
    runs = table.get("runs", [{"args": program.expect.get("args", [])}])
    judged = full or "symbolic" in runs[0]
    with tempfile.TemporaryDirectory() as folder:
        results = []
        for number, run in enumerate(runs):
            symbolic = full or (number == 0 and judged)
            result = predict_run(cleave, program, program.id, run["args"], folder, symbolic)
            if isinstance(result, str):
                yield result
                return
            if symbolic == judged:
                results.append(result)
            yield from counts_problems(run, result, symbolic)
            for expected in missing(weaker(run.get("must", []), symbolic), [result]):
                yield f"predict {' '.join(run['args'])}: not found: {describe(expected)}"
        for expected in missing(weaker(table.get("must", []), judged), results):
            yield f"predict: not found: {describe(expected)}"
        for expected in present(table.get("must_not", []), results) if judged else []:
            yield f"predict: found, but must not be: {describe(expected)}"
        if not program.bug or not judged:
            return
        twin = predict_run(cleave, program, program.id + "_ok", runs[0]["args"], folder, True)
        if isinstance(twin, str):
            yield twin
            return
        for expected in present(weaker(table.get("must", []), True), [twin]):
            yield f"predict, repaired twin: found, but must not be: {describe(expected)}"


def check_runs(cleave, program, build, folder, seeds):
    """Findings of runs under different random schedules, one after the other."""
    table = program.expect["check"]
    arguments = table.get("args", program.expect.get("args", []))
    for seed in range(1, seeds + 1):
        trace = Path(folder) / f"{seed}.cleave"
        error = cleave.record(build, arguments, trace, "random", seed)
        yield error or cleave.findings("check", *engine_options(table), trace)


def check_problems(cleave, program, full):
    table = program.expect["check"]
    with tempfile.TemporaryDirectory() as folder:
        results = []
        wanted = table.get("must", [])
        for result in check_runs(cleave, program, program.id, folder, RANDOM_SEEDS if wanted else 5):
            if isinstance(result, str):
                yield result
                return
            results.append(result)
            if wanted and not missing(wanted, results):
                break
        for expected in missing(wanted, results):
            yield f"check: not seen in {len(results)} random schedules: {describe(expected)}"
        for expected in present(table.get("must_not", []), results):
            yield f"check: found, but must not be: {describe(expected)}"
        if not program.bug:
            return
        for result in check_runs(cleave, program, program.id + "_ok", folder, 5):
            if isinstance(result, str):
                yield result
                return
            for expected in present(wanted, [result]):
                yield f"check, repaired twin: found, but must not be: {describe(expected)}"


def static_problems(cleave, program, full):
    table = program.expect["static"]
    for build in program.builds:
        result = cleave.findings("static", *engine_options(table), cleave.programs / build)
        if isinstance(result, str):
            yield result
            continue
        twin = build.endswith("_ok")
        for expected in [] if twin else missing(table.get("must", []), [result]):
            yield f"static: not found: {describe(expected)}"
        for expected in present(table.get("must", []) if twin else table.get("must_not", []), [result]):
            yield f"static{', repaired twin' if twin else ''}: found, but must not be: {describe(expected)}"


def hunt_problems(cleave, program, full):
    """A number of executions and not a time, so that the answer does not depend on how fast the machine is."""
    table = program.expect["hunt"]
    arguments = table.get("args", program.expect.get("args", []))
    for build in program.builds:
        with tempfile.TemporaryDirectory() as folder:
            result = cleave.in_folder(folder).findings("hunt", "--executions", 60, *engine_options(table), "--",
                                                       cleave.programs / build, *arguments)
        if isinstance(result, str):
            yield result
            continue
        twin = build.endswith("_ok")
        for expected in [] if twin else missing(table.get("must", []), [result]):
            yield f"hunt: not found: {describe(expected)}"
        for expected in present(table.get("must", []) if twin else table.get("must_not", []), [result]):
            yield f"hunt{', repaired twin' if twin else ''}: found, but must not be: {describe(expected)}"


def replay_problems(cleave, program, full):
    """The whole way: predicted from one serial run, run along the plans, judged. What must be found is found with the
    verdict that expect.toml asks for; in a program without a bug, and in every repaired twin, nothing is proved."""
    table = program.expect["predict"]
    arguments = table.get("runs", [{"args": program.expect.get("args", [])}])[0]["args"]
    for build in program.builds:
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "serial.cleave"
            here = cleave.in_folder(folder)
            error = here.record(build, arguments, trace, "serial")
            result = error or here.findings("predict", "--budget", 40, "--solver-seconds", 5, "--jobs", 1,
                                            *engine_options(table), trace)
        if isinstance(result, str):
            yield result
            continue
        if build == program.id and program.bug:
            for expected in missing(table.get("must", []), [result]):
                yield f"predict with replay: not found: {describe(expected)}"
            continue
        for finding in result["findings"]:
            harmless = any(matches(expected, finding) for expected in table.get("benign", []))
            if finding["verdict"] in ("witnessed", "confirmed") and not harmless:
                places = [access.get("function", "") for access in finding["accesses"]]
                yield f"{build}: proved, but nothing is wrong: {finding['pattern']} {finding['variable']} {places}"


PROBLEMS = {"check": check_problems, "predict": predict_problems, "static": static_problems, "hunt": hunt_problems,
            "replay": replay_problems}
# The part of expect.toml that a mode compares with, where it has another name.
TABLES = {"replay": "predict"}


def problems(cleave, program, engine, full=False):
    """What is not as expect.toml says. A table marked not_yet must still fail: a met expectation loses its mark."""
    table = program.expect.get(TABLES.get(engine, engine))
    if table is None:
        return []
    found = [f"{program.id}: {problem}" for problem in PROBLEMS[engine](cleave, program, full)]
    if "not_yet" not in table:
        return found
    return [] if found else [f"{program.id}: [{engine}] is marked not_yet, but all is as expected: remove the mark"]

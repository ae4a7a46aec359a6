#!/usr/bin/env python3
"""make_tables.py BUILD: the papers' tables with our figures beside theirs, to standard output and docs/tables.md.

Theirs are in papers.toml; ours are measured now, by running the engines on the program suite. A cell reads
`ours / theirs`; a row whose engine has not landed says "not yet". Progress goes to standard error. Takes six to eight
minutes on two idle cores; everything that the runs write goes to a scratch folder.
"""
import datetime
import os
import platform
import statistics
import sys
import time
import tomllib
from pathlib import Path

from measure import (EXECUTOR_SEEDS, MARATHON_SEEDS, NATIVE_SECONDS, NOT_YET, REPLAY_SECONDS, ROOT, RUN_SECONDS,
                     SOLVER_SECONDS, Measure, at_least, progress, timed)

import engines  # from tests/programs; measure.py put it on the path
import suite

PAPERS = tomllib.loads((Path(__file__).parent / "papers.toml").read_text())


def cell(ours, theirs):
    return f"{NOT_YET if ours is None else ours} / {theirs}"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(str(value) for value in row) + " |" for row in rows] + [""]


def seconds(value):
    return None if value is None else f"{value:.2f}"


def bank_arguments(row):
    """bank-av-4 → (ctp/bank-av, --threads 4); atom001 → (ctp/atom001, nothing)."""
    if row.startswith("bank-"):
        name, _, threads = row.rpartition("-")
        return f"ctp/{name}", ["--threads", threads]
    return f"ctp/{row}", []


def count(stages, name):
    return stages.get(name, {}).get("triples")


def sites(stages, name):
    return stages.get(name, {}).get("sites")


def candidates_line(results):
    """What became of the candidates: those that the lock stage leaves, by answer of the solver; and the runs."""
    locks, sat, unsat, unknown, executed, diverged = 0, 0, 0, 0, 0, 0
    for _, stages, _, _ in results:
        symbolic, replay = stages.get("symbolic", {}), stages.get("replay", {})
        locks += sites(stages, "locks") or 0
        sat += symbolic.get("sites", 0)
        unsat += symbolic.get("unsat", 0)
        unknown += symbolic.get("unknown", 0)
        executed += replay.get("as predicted", 0)
        diverged += replay.get("diverged", 0)
    return (f"Of {locks} candidates (triples of program locations) of the paper's rows, the solver says of {sat} that they "
            f"are feasible, of {unsat} that they are not, of {unknown} it does not know. Of the feasible ones, {executed} "
            f"happened when the program was run along the plan, and {diverged} runs went another way.")


def ctp(measure, _programs):
    paper = PAPERS["ctp"]
    ours_only = [f"bank-{kind}-{size}" for kind in ("av", "sav", "nav") for size in (16, 32, 64)]
    rows, results = [], []
    for name in [*paper["rows"], *ours_only]:
        theirs = dict(zip(paper["columns"], paper["rows"].get(name, ["–"] * len(paper["columns"]))))
        program, arguments = bank_arguments(name)
        progress(f"CTP, {name}")
        _, stages, shape, _ = measure.predict(program, arguments)
        if name in paper["rows"]:
            results.append(measure.predict(program, arguments, replay=True))
        symbolic = stages.get("symbolic", {})
        rows.append([name, cell(shape.get("threads"), theirs["threads"]), cell(shape.get("svars"), theirs["svars"]),
                     cell(shape.get("events"), f"{theirs['simplified']} of {theirs['original']}"),
                     cell(shape.get("regions"), theirs["regions"]),
                     cell(count(stages, "patterns"), theirs["orig_pavs"]),
                     cell(count(stages, "order"), theirs["hb_pavs"]),
                     cell(count(stages, "symbolic"), theirs["sym_avs"]),
                     cell(seconds(symbolic.get("seconds")), theirs["seconds"]),
                     cell(count(stages, "locks"), theirs["without_data"])])
    return ["## CTP, table 1", "",
            *table(["program", "threads", "shared variables", "trace length", "regions", "orig-pavs", "hb-pavs",
                    "sym-avs", "seconds", "w/o data"], rows),
            candidates_line(results), "",
            "The sources of these programs are not public: ours are written anew from the paper's counts, so that "
            "orig-pavs, hb-pavs, sym-avs and w/o data are comparable, and threads the same. Regions are runs of annotated "
            "units: where we have more than the paper, the program also marks what its threads call. Shared variables "
            "(touched by two threads, written by one) and trace lengths are those of a smaller program; theirs are the "
            "simplified and the original trace, ours counts every event of the serial run, main's included. Rows for 16 to "
            "64 threads are ours alone. Seconds are those of the symbolic stage on this machine with Z3, after cheaper "
            "stages have decided what they can; theirs are from a machine of 2010 with Yices.", ""]


def avfilter(measure, programs):
    lines = ["## AVFilter, table 1", ""]
    rows = []
    for number, (observed, alternative, covered) in enumerate(PAPERS["avfilter1"]["rows"], 1):
        _, stages, _, _ = measure.predict("micro/avfilter_table1", ["--row", str(number)])
        kept = {stage: None if count(stages, stage) is None else "yes" if count(stages, stage) else "no"
                for stage in ("exact", "filter")}
        rows.append([number, observed, alternative, cell(kept["exact"], "yes" if covered == "covered" else "no"),
                     cell(kept["filter"], "yes")])
    lines += table(["row", "observed", "alternative", "under-approximation keeps it", "filter keeps it"], rows)
    lines += ["Row 4 is a slip of the paper (no unserializable order follows from what it prints); our program observes "
              "R2 W1 W1. Our exact stage also pauses and resumes threads and checks the result by replaying it, so that "
              "it can keep more than the paper's under-approximation.", "", "## AVFilter, table 2", ""]
    rows = [[row[0], row[1], *(f"– / {value}" for value in row[2:])] for row in PAPERS["avfilter2"]["rows"]]
    for program in sorted(name for name in programs if name.startswith("real/")):
        progress(f"AVFilter, {program}")
        result, stages, shape, _ = measure.predict(program, [])
        size = (measure.cleave.programs / program).stat().st_size if result else 0
        rows.append([program, f"{size // 1024} KB" if size else NOT_YET,
                     *(cell(value, "–") for value in (shape.get("events"), sites(stages, "locks"), sites(stages, "filter"),
                                                       seconds(stages.get("filter", {}).get("seconds")))), "– / –"])
    lines += table(["program", "size", "events", "OA", "AVFilter", "filter, seconds", "replay, hours"], rows)
    lines += ["Theirs are whole servers of 2003 to 2013 in the version that had the bug; they are not part of the suite, and "
              "no figure of ours stands beside theirs. Our rows are the programs after bug reports of such systems, which "
              "keep the shape of the bug and nothing else, so their counts are small. OA and AVFilter count triples of "
              "program locations that the lock stage and the filter leave of one serial run.", "",
              "## AVFilter, table 3", ""]
    rows = []
    for name, figures in PAPERS["avfilter3"]["rows"].items():
        theirs = dict(zip(PAPERS["avfilter3"]["columns"], figures))
        program, arguments = bank_arguments(name)
        result, stages, shape, _ = measure.predict(program, arguments)
        variables = {stage: variables_kept(result, stage) for stage in ("locks", "filter", "symbolic")}
        rows.append([name, cell(shape.get("threads"), theirs["threads"]), cell(variables["symbolic"], theirs["true"]),
                     cell(variables["locks"], theirs["oa"]), cell(variables["filter"], theirs["avfilter"]),
                     cell(count(stages, "exact"), theirs["ua"])])
    lines += table(["program", "threads", "variables with a violation", "OA variables", "AVFilter variables",
                    "UA violations"], rows)
    lines += ["Our first figure of the third column is what the symbolic stage keeps. Findings name the variable as the "
              "source does: the accounts of a bank are one variable here, `account::balance`, and eight in the paper. "
              "UA is our exact stage, which may keep more (see table 1). atom001 is dropped by our filter and kept by theirs: "
              "in our reconstruction the remote decrement reads the count that the unit has just written, which the "
              "corrected rule takes for a broken relation; how their program does it is not known.", ""]
    return lines


def variables_kept(result, stage):
    if result is None:
        return None
    kept = [finding for finding in result["findings"] if stage in finding.get("stages", {})]
    if not kept:
        return None if stage not in {entry["name"] for entry in result["stages"]} else 0
    good = ("kept", "sat")
    return len({finding.get("variable") for finding in kept if finding["stages"][stage] in good})


def factor(value):
    """A slowdown as a cell says it: a tuple is a run that was stopped."""
    if value is None:
        return None
    return f"> {value[0]:.0f}" if isinstance(value, tuple) else f"{value:.1f}"


def marathon(measure, programs):
    paper = PAPERS["marathon"]
    names = list(paper["rows"])
    builds = [name for program in names for name in programs[f"marathon/{program}"].builds]

    def cycles(build):
        result = measure.check(build)
        progress(f"Marathon, schedules of {build}")
        return result

    cycles_of = dict(zip(builds, measure.in_parallel(cycles, builds)))
    rows, factors, total = [], {"live": [], "recorded": []}, {"ours": 0, "theirs": 0, "wrong": 0}
    for name, figures in paper["rows"].items():
        theirs = dict(zip(paper["columns"], figures))
        program = f"marathon/{name}"
        repaired = programs[program].builds[-1]
        ours, benign = cycles_of[program], cycles_of[repaired]
        progress(f"Marathon, slowdown of {repaired}")
        live, recorded = measure.slowdown(repaired)
        for key, value in (("live", live), ("recorded", recorded)):
            factors[key] += [] if value is None or isinstance(value, tuple) else [value]
        sizes = None if ours is None else ours["sizes"]
        cells = [cell(None if sizes is None else sizes.get(size, 0), theirs[str(size)]) for size in range(2, 9)]
        large = None if sizes is None else sum(number for size, number in sizes.items() if size >= 9)
        if ours and benign:
            total["ours"] += ours["total"]
            total["wrong"] += benign["total"]
        rows.append([name, *cells, cell(large, theirs["9+"]),
                     cell(None if benign is None else f"{benign['total']} of {ours['total']}",
                          f"{theirs['fp']} of {theirs['total']}"),
                     cell(factor(live), theirs["online"]), cell(factor(recorded), theirs["postmortem"]),
                     cell(None if ours is None else ours["graph"], theirs["graph"]),
                     cell(None if ours is None else ours["depth"], theirs["stack"]),
                     cell(None if ours is None else ours["threads"], theirs["threads"])])
    mean = {key: f"{statistics.geometric_mean(values):.1f}" if values else NOT_YET for key, values in factors.items()}
    stopped = sum(isinstance(row[10], str) and row[10].startswith(">") for row in rows)
    return ["## Marathon, table 1", "",
            *table(["program", *map(str, range(2, 9)), "9+", "false positives", "live", "post-mortem", "graph",
                    "context depth", "threads"], rows),
            f"{total['ours']} cycles in all, {total['wrong']} of them false positives. Slowdown on the geometric mean: live "
            f"{mean['live']} (without the {stopped} that were stopped after {RUN_SECONDS} s), post-mortem {mean['recorded']}; "
            "the paper's averages are 8.5 live and 4 post-mortem over all of its programs, 1.9 and 1.1 over the realistic "
            "ones.", "",
            f"Ours: unique cycles over {MARATHON_SEEDS} random schedules of the default run, which is smaller than the "
            "paper's (fewer threads, fewer rounds), with the units annotated in the source rather than guessed from "
            "method visibility; theirs: two runs with noise on a JVM. Shapes are comparable, digits are not: a controlled "
            "run with random switches sees far more interleavings than a run with noise, so long cycles that the paper saw "
            "in few programs show in many of ours, and allocationvector, which the paper misses, is found. Where we have "
            "fewer, our run is smaller. boundedbuffer's cycle of four goes through the polling of the main thread, which "
            "ours does not do. False positives are measured, not judged: the cycles that the repaired twin shows under the "
            "same schedules; theirs were judged by hand. Slowdown is wall time over the native program, of the repaired "
            f"twin, with so many iterations that the native one runs {NATIVE_SECONDS} s or more; post-mortem is the "
            "recording alone, as in the paper. These programs do nothing but touch shared memory, and C++ does that at the "
            "speed of the machine, so the factor is larger than over a JVM that has just started. Graph is the largest live "
            "part of the conflict graph; depth is the deepest nesting of calls and units, theirs the average number of "
            "integers of the encoded call stack.", ""]


def moth(measure, programs):
    paper = PAPERS["moth"]
    rows = []
    for name, figures in paper["rows"].items():
        theirs = dict(zip(paper["columns"], figures))
        result, elapsed = None, None
        if measure.cleave.has("static"):
            result, elapsed = timed(measure.findings, "static", measure.cleave.programs / f"moth/{name}")
        wrong = right = None
        if result is not None:
            expected = programs[f"moth/{name}"].expect.get("static", {}).get("must", [])
            true = [item for item in expected if "false positive" not in item.get("note", "")]
            right = len(true) - len(engines.missing(true, [result]))
            wrong = sum(not any(engines.matches(item, finding) for item in true) for finding in result["findings"])
        rows.append([name, theirs["av"], cell(right, theirs["av"] - theirs["fn"]), cell(wrong, theirs["fp"]),
                     cell(seconds(elapsed), theirs["seconds"])])
    return ["## MoTH, tables 1 and 2", "",
            *table(["program", "known violations", "found", "false positives", "seconds"], rows),
            "Found counts the known violations that expect.toml names; false positives are all other findings. Theirs analyses Java bytecode with the whole class library "
            "behind it, ours the bitcode of a C++ program of a tenth of the size.", ""]


def atomchase(measure, _programs):
    paper, elsewhere = PAPERS["atomchase"], {"tsp": "moth/tsp", "elevator": "moth/elevator"}
    binaries = {name: elsewhere.get(name, f"atomchase/{name}") for name in paper["rows"]}
    policies = ("random", "pct")
    runs = [(name, policy) for name in binaries for policy in policies]

    def executor(run):
        progress(f"AtomChase, {run[1]} schedules of {run[0]}")
        return measure.witnessed_by_executor(binaries[run[0]], run[1])

    alone = dict(zip(runs, measure.in_parallel(executor, runs)))
    rows, total = [], {"random": 0, "pct": 0, "plan": 0, "confirmed": 0, "conditions": 0}
    for name, figures in paper["rows"].items():
        theirs = dict(zip(paper["columns"], figures))
        progress(f"AtomChase, plans for {name}")
        result, stages, _, elapsed = measure.predict(binaries[name], [], replay=True)
        findings = [] if result is None else result["findings"]
        plan, confirmed = at_least(findings, "witnessed"), at_least(findings, "confirmed")
        conditions = {f["id"] for f in findings if f["id"] in confirmed and f.get("proof", "").startswith("C_")}
        ids = {"random": alone[name, "random"], "pct": alone[name, "pct"], "plan": plan, "confirmed": confirmed,
               "conditions": conditions}
        for key, found in ids.items():
            total[key] += len(found)
        ran = result is not None and measure.cleave.has("replay")
        rows.append([name, cell(sites(stages, "locks"), theirs["candidates"]), len(ids["random"]), len(ids["pct"]),
                     len(plan) if ran else NOT_YET, cell(None, theirs["found"]),
                     cell(len(confirmed) if ran else None, theirs["exhaustive"]),
                     cell(len(conditions) if ran else None, theirs["conditions"]), cell(seconds(elapsed), theirs["seconds"])])
    progress("AtomChase, conditions against the exact method")
    return atomchase_text(rows, total, measure.conditions(binaries.values()))


def atomchase_text(rows, total, judge):
    totals = PAPERS["atomchase"]["totals"]
    lines = ["## AtomChase, figures 8 and 9 (the small programs)", "",
             *table(["program", "candidates", "executor alone: random", "executor alone: pct", "plan alone", "both",
                     "confirmed", "by conditions", "seconds"], rows),
             f"Witnessed by the executor alone: {total['random']} with random schedules, {total['pct']} with pct / "
             f"{totals['executor_alone']} of {totals['found']}; by plans alone: {total['plan']} / {totals['plan_alone']}; by "
             f"both: {NOT_YET} / {totals['found']}.", ""]
    if judge:
        recognised, non_atomic, ratio = judge
        lines += [f"Conditions against exhaustive proof: of what the plans confirmed, the conditions recognise "
                  f"{total['conditions']} of {total['confirmed']} / {totals['conditions']} of {totals['exhaustive']} "
                  f"(89 %); of all non-atomic triples in three random schedules of each of these programs, {recognised} of "
                  f"{non_atomic} ({100 * recognised / max(non_atomic, 1):.1f} %), {ratio} times faster than the exact "
                  "method / more than 100 times.", ""]
    return lines + [
        f"Executor alone is {EXECUTOR_SEEDS} schedules of each policy from the program's start, their traces judged as they "
        "are; the paper's executor is directed at its candidates, which ours is not yet. Plan alone is `predict`: from one "
        f"serial run, plans by the solver ({SOLVER_SECONDS} s) or by holding a thread, followed within {REPLAY_SECONDS} s; "
        "what the serial run does not touch is never a candidate. Both, the directed search, has not landed. Confirmed, "
        "conditions and seconds are those of plan alone. The kernels are reconstructions: the paper names the programs, not "
        "their code, so that candidates differ, and its totals are over all of its programs, the large ones included. "
        "Candidates are program locations that the lock stage leaves, theirs those of HAVE. tsp and sor are right, and "
        "nothing is to be found in ours; hashset needs an execution in which two threads miss the same item, which no order "
        "of the serial run's accesses is. The exact method is faster than theirs, because it looks only at the units that "
        "conflict with the triple's: so the conditions save less.", ""]


def said(error, build):
    """An error without the paths of this machine, on one line."""
    return error.replace(str(Path(build).resolve()) + "/", "").replace("\n", "; ")


def processor():
    """Its name where the system tells it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    programs = {program.id: program for program in suite.load(ROOT)}
    measure = Measure(build)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    lines = ["# The papers' tables, run by Cleave", "",
             "Written by `make tables`; a cell reads ours / theirs. Do not edit: theirs is scripts/tables/papers.toml, "
             "ours is measured.", "",
             "Where a cell says \"not yet\", the engine has not landed, or could not run: then the end of this page says why.",
             "", f"{now}, {os.cpu_count()} cores ({processor()}), {platform.system()} {platform.release()}, "
             f"{len(programs)} programs in the suite.", ""]
    start = time.monotonic()
    for make in (ctp, avfilter, marathon, moth, atomchase):
        part = make(measure, programs)
        lines += part
        progress(f"{part[0].removeprefix('## ')}: {time.monotonic() - start:.0f} s so far")
    lines += [f"All tables: {(time.monotonic() - start) / 60:.0f} minutes.", ""]
    if measure.errors:
        lines += ["## What could not be run", "", *(f"- {error}" for error in sorted({said(error, build) for error in measure.errors})), ""]
    text = "\n".join(lines)
    (ROOT / "docs" / "tables.md").write_text(text)
    print(text)
    return 1 if measure.errors else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs the program suite and compares with every program's expect.toml.

  run.py schema   ROOT             the expect.toml files say what they must, and nothing else
  run.py native   ROOT BUILD       every program ends with 0 or 1 under a few seeds, every twin with 0
  run.py tsan     ROOT BUILD       every program that says tsan_clean gives no report, nor does its twin
  run.py cleave   ROOT BUILD       every program built by cleave-c++ runs as the native one does
  run.py check    ROOT BUILD       the findings of an engine are those of expect.toml; also predict, static, hunt
  run.py replay   ROOT BUILD       predict with its runs: expected verdicts are reached, repaired twins stay clean
  run.py symptoms ROOT BUILD       every bug shows natively, with noise at the locks; twins stay right (not in make test)

An engine that has not landed is skipped (exit status 77). --only GLOB picks programs (SET/NAME). Failures are printed one a line; exit status 1 if there are any.
"""
import argparse
import fnmatch
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import engines
import expectations
import suite

SEEDS = (1, 2, 3)
SECONDS = 60


def run(binary, arguments, environment=None):
    """(exit status, output); status None when it does not end in time."""
    try:
        done = subprocess.run([binary, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS,
                              env={**os.environ, **(environment or {})})
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return None, f"did not end in {SECONDS} s"
    except FileNotFoundError:
        return None, "is not built"


def allowed(program, build):
    if build.endswith("_ok"):
        return (0,)
    if program.expect.get("may_hang"):
        return (0, 1, 3)
    return (0, 1) if program.bug else (0,)


def native_failures(program, folder):
    for build in program.builds:
        for seed in SEEDS:
            arguments = [*program.expect.get("args", []), "--seed", str(seed)]
            status, output = run(folder / "native" / build, arguments)
            if status not in allowed(program, build):
                yield f"{build} --seed {seed}: exit status {status}, not {allowed(program, build)}: {output.strip()}"


def tsan_failures(program, folder):
    if not program.expect["tsan_clean"]:
        return
    for build in program.builds:
        arguments = [*program.expect.get("args", []), "--seed", "1"]
        status, output = run(folder / "tsan" / build, arguments, {"TSAN_OPTIONS": "exitcode=66 halt_on_error=0"})
        if status not in allowed(program, build):
            report = next((line for line in output.splitlines() if "SUMMARY" in line), output.strip()[-200:])
            yield f"{build}: ThreadSanitizer build ends with {status}: {report}"


def cleave_failures(program, folder):
    for build in program.builds:
        arguments = [*program.expect.get("args", []), "--seed", "1"]
        status, output = run(folder / "cleave" / build, arguments)
        if status not in allowed(program, build):
            yield f"{build}: built by Cleave it ends with {status}: {output.strip()[-300:]}"


def symptom_failures(program, folder):
    if not program.bug or program.expect.get("symptom_shows") == "under control":
        return
    arguments = program.expect.get("symptom_args", program.expect.get("args", []))
    noise = {"LD_PRELOAD": str(folder / "libnoise.so")}
    bad = (1, 3) if program.expect.get("may_hang") else (1,)
    seen = any(run(folder / "native" / program.id, [*arguments, "--seed", str(seed)], environment)[0] in bad
               for seed in range(1, 9) for environment in (None, noise))
    if not seen:
        yield f"{program.id} {' '.join(arguments)}: the symptom did not show in 16 runs"
    for environment in (None, noise):
        status, output = run(folder / "native" / (program.id + "_ok"), [*arguments, "--seed", "1"], environment)
        if status != 0:
            yield f"{program.id}_ok {' '.join(arguments)}: exit status {status}: {output.strip()}"


MODES = {"native": native_failures, "tsan": tsan_failures, "cleave": cleave_failures, "symptoms": symptom_failures}


def engine_mode(engine, options):
    cleave = engines.Cleave(options.build)
    if not cleave.has(engine):
        print(f"{engine}: not yet")
        sys.exit(77)
    return lambda program: expectations.problems(cleave, program, engine, options.full)


def known_gaps(root, mode):
    """Programs whose expectations an engine is known not to meet yet, with the reason: programs/known_gaps.toml."""
    with open(Path(root) / "programs" / "known_gaps.toml", "rb") as file:
        return tomllib.load(file).get(mode, {})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["schema", *MODES, *suite.ENGINES, "replay"])
    parser.add_argument("root")
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--only", default="*")
    parser.add_argument("--full", action="store_true", help="predict: the symbolic stage for every program and run")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    try:
        programs = [program for program in suite.load(options.root) if fnmatch.fnmatch(program.id, options.only)]
    except ValueError as error:
        print(error)
        return 1
    failures = []
    if options.mode != "schema":
        folder = Path(options.build).resolve() / "programs"
        if options.mode in expectations.PROBLEMS:
            work = engine_mode(options.mode, options)
        else:
            work = lambda program: list(MODES[options.mode](program, folder))
        with ThreadPoolExecutor(options.jobs) as pool:
            for found in pool.map(work, programs):
                failures += found
    gaps = known_gaps(options.root, options.mode)
    missed = [failure for failure in failures if failure.split(":")[0] in gaps]
    failures = [failure for failure in failures if failure.split(":")[0] not in gaps]
    for failure in missed:
        print(f"known gap: {failure} ({gaps[failure.split(':')[0]]})")
    for name in sorted(set(gaps) - {failure.split(":")[0] for failure in missed}):
        if any(program.id == name for program in programs):
            print(f"{name}: met, programs/known_gaps.toml need not name it for {options.mode} any more")
    for failure in failures:
        print(failure)
    print(f"{options.mode}: {len(programs)} programs, {len(failures)} failures, {len(missed)} known gaps")
    return 1 if failures or not programs else 0


if __name__ == "__main__":
    sys.exit(main())

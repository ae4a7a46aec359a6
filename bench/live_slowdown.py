#!/usr/bin/env python3
"""Slowdown of live checking over native, beside ThreadSanitizer and plain recording in the same run.

    bench/live_slowdown.py [--repeat N] [--kernels | --suite] BUILD [PROGRAM...]

The four kernels of bench/kernels, and programs of the suite (SET/NAME below programs/; without one, those of Marathon's
Table 1 that end by themselves) in their repaired form, with so many iterations that the native program takes at least
a fifth of a second. Each is built three times (native, TSan, Cleave) with the same optimisation. Wall time, the smallest
of N. `record` is what Marathon calls post-mortem: the run alone, judged afterwards. `most live` and `deepest` are the
largest live part of the conflict graph and the deepest nesting of units, as in its Table 1. Its own numbers: 8.5 (all)
and 1.9 (realistic) online, 4 and 1.1 post-mortem.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

KERNELS = {"hashmap": 200000, "queue": 50000, "matrix": 128, "chase": 5000}
SUITE = ["marathon/account", "marathon/boundedbuffer", "marathon/bubblesort", "marathon/linkedlist",
         "marathon/lottery", "marathon/mergesort", "marathon/producerconsumer", "marathon/shop",
         "marathon/sunsaccount", "marathon/blocking_queue", "marathon/sync_map", "marathon/sync_vector"]
COLUMNS = ("tsan", "record", "live")


def seconds(command, repeat):
    best = None
    for _ in range(repeat):
        start = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=200)
        took = time.monotonic() - start
        best = took if best is None else min(best, took)
    return best


def compile_all(root, build, source, flags, out):
    cpp = source.suffix == ".cpp"
    common = ["-g", "-pthread", *flags, f"-I{root}/programs", f"-I{root}/include", str(source)]
    common = (["-std=c++20"] if cpp else ["-std=c11", "-D_GNU_SOURCE"]) + common
    clang = "clang++-19" if cpp else "clang-19"
    ours = str(build / "bin" / ("cleave-c++" if cpp else "cleave-cc"))
    for kind, command in {"native": [clang], "tsan": [clang, "-fsanitize=thread"], "cleave": [ours]}.items():
        subprocess.run(command + common + ["-o", str(out / kind)], check=True)


def arguments_of(name, native):
    """The kernel's size, or so many iterations of a program that it takes long enough to be measured."""
    if name in KERNELS:
        return [str(KERNELS[name])]
    iterations = 1
    while True:
        arguments = ["--iters", str(iterations)]
        took = seconds([native] + arguments, 1)
        if took >= 0.2 or iterations >= 1 << 22:
            return arguments
        iterations *= 2 if took > 0.05 else 8


def measure(root, build, name, repeat):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        if name in KERNELS:
            compile_all(root, build, root / "bench" / "kernels" / f"{name}.cpp", ["-O2"], out)
        else:
            source = next(p for p in (root / "programs" / name).iterdir() if p.suffix in (".c", ".cpp"))
            compile_all(root, build, source, ["-O1", "-DFIXED"], out)
        arguments = arguments_of(name, str(out / "native"))
        cleave = str(build / "bin" / "cleave")
        native = seconds([str(out / "native")] + arguments, repeat)
        commands = {
            "tsan": [str(out / "tsan")],
            "record": [cleave, "record", "--quiet", "-o", str(out / "t"), "--", str(out / "cleave")],
            "live": [cleave, "check", "--quiet", "--json", str(out / "json"), "--", str(out / "cleave")],
        }
        factors = {key: seconds(command + arguments, repeat) / native for key, command in commands.items()}
        counts = json.loads((out / "json").read_text())["stages"][0]
        print(f"{name:26} {arguments[-1]:>8} {native:>8.3f} " + " ".join(f"{factors[key]:>8.2f}" for key in COLUMNS) +
              f" {counts['events']:>11} {counts['most_live']:>9} {counts['deepest']:>7}", flush=True)
        return factors


def table(root, build, names, repeat):
    print(f"{'program':26} {'size':>8} {'native s':>8} " + " ".join(f"{key + ' x':>8}" for key in COLUMNS) +
          f" {'events':>11} {'most live':>9} {'deepest':>7}")
    rows = []
    for name in names:
        try:
            rows.append(measure(root, build, name, repeat))
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired, StopIteration, OSError) as problem:
            print(f"{name:26} {problem}", file=sys.stderr)
    if rows:
        mean = {key: sum(row[key] for row in rows) / len(rows) for key in COLUMNS}
        middle = {key: math.exp(sum(math.log(row[key]) for row in rows) / len(rows)) for key in COLUMNS}
        for label, values in (("arithmetic mean", mean), ("geometric mean", middle)):
            print(f"{label:26} {'':>8} {'':>8} " + " ".join(f"{values[key]:>8.2f}" for key in COLUMNS))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--kernels", action="store_true", help="only the four kernels")
    parser.add_argument("--suite", action="store_true", help="only programs of the suite")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    build = options.build.resolve()
    if options.programs:
        table(root, build, options.programs, options.repeat)
        return
    if not options.suite:
        table(root, build, list(KERNELS), options.repeat)
    if not options.kernels:
        table(root, build, SUITE, options.repeat)


if __name__ == "__main__":
    main()

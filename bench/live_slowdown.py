#!/usr/bin/env python3
"""Slowdown of live checking over native, beside ThreadSanitizer and plain recording in the same run.

    bench/live_slowdown.py BUILD [--repeat N] [PROGRAM...]

PROGRAM is SET/NAME below programs/; without one, those of Marathon's Table 1 that end by themselves. Each is built three
times (native, TSan, Cleave) with the same optimisation, in its repaired form, and is run with so many iterations that the native
program takes at least a fifth of a second. The smallest of N times counts. Marathon's own numbers: 8.5 (all) and 1.9
(realistic) online, 4 and 1.1 post-mortem.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

DEFAULT = ["marathon/account", "marathon/boundedbuffer", "marathon/bubblesort", "marathon/linkedlist",
           "marathon/lottery", "marathon/mergesort", "marathon/producerconsumer", "marathon/shop",
           "marathon/sunsaccount", "marathon/blocking_queue", "marathon/sync_map", "marathon/sync_vector"]


def seconds(command, repeat):
    best = None
    for _ in range(repeat):
        start = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=300)
        took = time.monotonic() - start
        best = took if best is None else min(best, took)
    return best


def compile_all(root, build, name, out):
    folder = root / "programs" / name
    source = next(p for p in folder.iterdir() if p.suffix in (".c", ".cpp"))
    cpp = source.suffix == ".cpp"
    common = ["-O1", "-g", "-pthread", "-DFIXED", f"-I{root}/programs", f"-I{root}/include", str(source)]
    common = (["-std=c++20"] if cpp else ["-std=c11", "-D_GNU_SOURCE"]) + common
    clang = "clang++-19" if cpp else "clang-19"
    ours = str(build / "bin" / ("cleave-c++" if cpp else "cleave-cc"))
    for kind, command in {"native": [clang], "tsan": [clang, "-fsanitize=thread"], "cleave": [ours]}.items():
        subprocess.run(command + common + ["-o", str(out / kind)], check=True)


def measure(root, build, name, repeat):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        compile_all(root, build, name, out)
        cleave = str(build / "bin" / "cleave")
        iterations = 1
        while True:
            arguments = ["--iters", str(iterations)]
            native = seconds([str(out / "native")] + arguments, 1)
            if native >= 0.2 or iterations >= 1 << 22:
                break
            iterations *= 2 if native > 0.05 else 8
        native = seconds([str(out / "native")] + arguments, repeat)
        rows = {
            "tsan": [str(out / "tsan")],
            "record": [cleave, "record", "--quiet", "-o", str(out / "t"), "--", str(out / "cleave")],
            "live": [cleave, "check", "--quiet", "--", str(out / "cleave")],
        }
        factors = {key: seconds(command + arguments, repeat) / native for key, command in rows.items()}
        print(f"{name:28} {iterations:>8} {native:>8.3f} " +
              " ".join(f"{factors[key]:>8.2f}" for key in ("tsan", "record", "live")), flush=True)
        return factors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    print(f"{'program':28} {'iters':>8} {'native s':>8} {'tsan x':>8} {'record x':>8} {'live x':>8}")
    sums, count = {"tsan": 0.0, "record": 0.0, "live": 0.0}, 0
    for name in options.programs or DEFAULT:
        try:
            factors = measure(root, options.build.resolve(), name, options.repeat)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired, StopIteration) as problem:
            print(f"{name:28} {problem}", file=sys.stderr)
            continue
        count += 1
        for key in sums:
            sums[key] += factors[key]
    if count:
        print(f"{'average':28} {'':>8} {'':>8} " + " ".join(f"{sums[key] / count:>8.2f}" for key in ("tsan", "record", "live")))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What the walk through a program's bitcode makes expressions of, for real programs: pbzip2, memcached and leveldb as
scripts/bench-programs builds them (`recorded`), one short free run each. The suite's line is the last of
bench/symbolic_suite.py.

  lifting.py BUILD [--keep FOLDER]

One table line a program: events, values that the walk computed beside recorded ones and how many differ, branches, those
that depend on what another thread may have written, the share of these that are expressions; the same for shared
stores; pins. Below, by what instruction the pinned values were needed. Exit status 1 if a value differs or a thread is lost, 3 if a program is not built.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PORT = 22177


def commands(programs, folder):
    data = folder / "data"
    chance = random.Random(1)
    data.write_bytes(b"".join(b"%d cleave " % chance.randrange(1000) for _ in range(20000))[:200_000])
    memcached = [str(programs / "memcached" / "memcached"), "-u", "root", "-p", str(PORT), "-U", "0", "-l", "127.0.0.1", "-t", "2"]
    return {
        "pbzip2": [str(programs / "pbzip2" / "pbzip2"), "-p2", "-b1", "-kfq", str(data)],
        "memcached": [str(HERE / "programs" / "memcached_load.py"), str(PORT), "640"] + memcached,
        "leveldb": [str(programs / "leveldb" / "leveldb_driver"), str(folder / "database"), "20"],
    }


def share(part, lost):
    return f"{100 * part / (part + lost):.1f} %" if part + lost else "–"


def line(name, events, stage):
    branches, lost = stage["branches symbolic"], stage["branches concretized"]
    stores, lost_stores = stage["shared stores symbolic"], stage["shared stores concretized"]
    return (f"| {name} | {events} | {stage['values compared']} | {stage['values that differ']} | {stage['branches']} | "
            f"{branches + lost} | {share(branches, lost)} | {stage['shared stores']} | {stores + lost_stores} | "
            f"{share(stores, lost_stores)} | {stage['pins']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--keep", type=Path, help="leave traces and findings in this folder")
    asked = parser.parse_args()
    build = asked.build.resolve()
    if asked.keep:
        asked.keep.mkdir(parents=True, exist_ok=True)
        return measure(build, asked.keep.resolve())
    with tempfile.TemporaryDirectory(prefix="cleave-lifting-") as folder:
        return measure(build, Path(folder))


def measure(build, folder):
    tool, programs = str(build / "bin" / "cleave"), build / "bench" / "programs" / "recorded"
    environment = {**os.environ, "NO_COLOR": "1"}
    print("| program | events | values compared | differ | branches | depend | expressions | shared stores | depend | expressions "
          "| pins |\n|" + "---|" * 11)
    bad, reasons = 0, {}
    for name in ("pbzip2", "memcached", "leveldb"):
        trace, found = folder / f"{name}.cleave", folder / f"{name}.json"
        if not (programs / f"{name}.built").exists():
            print(f"{name} is not built: scripts/bench-programs {build} recorded", file=sys.stderr)
            return 3
        subprocess.run(commands(programs, folder)[name], stdout=subprocess.DEVNULL, timeout=120,
                       env={**environment, "CLEAVE_TRACE": str(trace)})
        subprocess.run([tool, "predict", "--no-replay", "--quiet", "--solver-seconds", "1", "--json", str(found), str(trace)],
                       stdout=subprocess.DEVNULL, timeout=300, env=environment)
        result = json.loads(found.read_text())
        stage = next((s for s in result["stages"] if s["name"] == "symbolic"), None)
        if stage is None:
            print(f"{name}: {json.dumps(result.get('facts', {}))}", file=sys.stderr)
            bad = 1
            continue
        stats = subprocess.run([tool, "trace", "stats", str(trace)], capture_output=True, text=True, env=environment).stdout
        events = next((row.split()[0] for row in stats.splitlines() if " events, " in row), "?")
        print(line(name, events, stage), flush=True)
        reasons[name] = {key: value for key, value in stage.items() if key.startswith("pins at ")}
        remarks = [r for r in json.dumps(result.get("facts", {})).split("; ") if "lost" in r]
        bad = bad or stage["values that differ"] != 0 or bool(remarks)
    for name, counts in reasons.items():
        most = sorted(counts.items(), key=lambda item: -item[1])
        print(f"{name}:", ", ".join(f"{key} {value}" for key, value in most))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Causal units find a fixed part of programs/everyday under the right function, and nothing in their twins.

The seeds are fixed, so a run is the same every time. scripts/measure-units measures all programs.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

FOUND = {  # program → function that must be named
    "high_water": "HighWater::record",
    "page_hits": "PageStats::hit",
    "pending_member": "Ledger::post",
    "range_halves": "Range::move_to",
    "start_once": "Service::start",
    "toggle_light": "Light::toggle",
    "token_bucket": "bucket_admit",
    "update_callback": "Cell::update",
    "window_size": "paint",
}
SILENT = ["high_water", "page_hits", "pending_member", "range_halves", "ring_put", "toggle_light", "token_bucket", "window_size"]
CORRECT = ["cas_maximum", "double_checked", "producer_consumer", "struct_mutex", "two_halves"]

root, build = Path(sys.argv[1]), Path(sys.argv[2])
problems = []


def findings(folder, kind, name, flags):
    source = next(p for p in (root / "programs" / kind / name).iterdir() if p.suffix in (".c", ".cpp"))
    cxx = source.suffix == ".cpp"
    binary = Path(folder) / (name + "".join(flags))
    standard = ["-std=c++20"] if cxx else ["-std=c11", "-D_GNU_SOURCE"]
    subprocess.run([build / "bin" / ("cleave-c++" if cxx else "cleave-cc"), *standard, "-O1", "-g", "-pthread", *flags,
                    source, "-o", binary], check=True)
    out = Path(folder) / "findings.json"
    out.unlink(missing_ok=True)
    done = subprocess.run([build / "bin" / "cleave", "check", "--schedule", "random", "--runs", "20", "--units",
                           "annotated,causal", "--quiet", "--json", out, "--", binary], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        problems.append(f"{name}: cleave check ended with {done.returncode}: {done.stderr}")
        return []
    # A run that fails is a finding too, and not about units.
    return [f for f in json.loads(out.read_text())["findings"] if f["kind"] != "failure"]


with tempfile.TemporaryDirectory() as folder:
    for name, function in FOUND.items():
        found = findings(folder, "everyday", name, [])
        named = {f["unit"] for f in found}
        if function not in named:
            problems.append(f"{name}: {function} is not found, only {sorted(named)}")
        if any("rule" not in f.get("cause", {}) for f in found):
            problems.append(f"{name}: a finding does not say which rule is behind its unit")
    for kind, names, flags in (("everyday", SILENT, ["-DFIXED"]), ("correct", CORRECT, [])):
        for name in names:
            for finding in findings(folder, kind, name, flags):
                problems.append(f"{kind} {name} is correct, and {finding['unit']} is reported")
print("\n".join(problems) or f"{len(FOUND)} found, {len(SILENT) + len(CORRECT)} silent")
sys.exit(1 if problems else 0)

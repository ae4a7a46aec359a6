"""Our figures for the papers' tables: every number comes from a findings file or a trace of this run."""
import itertools
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "programs"))
import engines  # noqa: E402
import suite  # noqa: E402

NOT_YET = "not yet"
MARATHON_SEEDS = 10    # random schedules of each program of Marathon's table
EXECUTOR_SEEDS = 8     # schedules of each policy for "executor alone"
REPLAY_SECONDS = 5     # for running a program, all its candidates together
SOLVER_SECONDS = 5     # for the symbolic stage, where the program is run as well
NATIVE_SECONDS = 0.05  # a program whose slowdown is measured runs at least so long natively
RUN_SECONDS = 15       # a run that takes longer is stopped
EVENTS = re.findall(r'CLEAVE_EVENT\(\w+,\s*\d+,\s*"([\w-]+)"', (ROOT / "src/trace/core/event_kinds.def").read_text())


def progress(text):
    print(f"make_tables: {text}", file=sys.stderr, flush=True)


def timed(function, *arguments):
    start = time.monotonic()
    result = function(*arguments)
    return result, time.monotonic() - start


def at_least(findings, verdict):
    return {finding["id"] for finding in findings
            if suite.VERDICTS.index(finding["verdict"]) >= suite.VERDICTS.index(verdict)}


class Measure:
    def __init__(self, build):
        self.build = Path(build).resolve()
        self.native = self.build / "programs" / "native"
        self.folder = tempfile.TemporaryDirectory()
        self.cleave = engines.Cleave(build, self.folder.name)
        self.errors = []
        self.predicted = {}
        self.numbers = itertools.count()

    def in_parallel(self, function, items):
        """The function's results, in order; two at a time. Only for what is not timed."""
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(function, items))

    def trace(self, binary, arguments, schedule="serial", seed=1):
        """The path of a recorded run, or None."""
        if not self.cleave.has("record"):
            return None
        path = Path(self.folder.name) / f"{binary.replace('/', '-')}-{schedule}-{seed}-{next(self.numbers)}.cleave"
        error = self.cleave.record(binary, arguments, path, schedule, seed)
        if error:
            self.errors.append(error)
            return None
        return path

    def findings(self, verb, *arguments):
        """A findings file, or None (the verb is missing, or failed: the table says not yet, the errors say why)."""
        if not self.cleave.has(verb):
            return None
        result = self.cleave.findings(verb, *arguments)
        if isinstance(result, str):
            self.errors.append(result.replace(self.folder.name + "/", ""))
            return None
        return result

    def shape(self, trace):
        """Threads, shared variables, events and annotated units of a trace, counted in its text form."""
        done = subprocess.run([self.cleave.tool, "trace", "export", trace], capture_output=True, timeout=300)
        if done.returncode != 0:
            return {}
        threads, users, written, marked, events, units = set(), {}, set(), set(), 0, 0
        for line in done.stdout.decode(errors="replace").splitlines():
            words = line.split("#")[0].split()
            if words[:1] == ["unit"] and not any(word.startswith("source=") for word in words):
                marked.add(words[1])
            if len(words) < 2 or words[1] not in EVENTS or words[0] in ("unit", "variable", "site", "thread", "sync"):
                continue
            events += 1
            threads.add(words[0])
            units += words[1] == "begin" and words[2] in marked
            if words[1] in ("read", "write", "update"):
                users.setdefault(words[2], set()).add(words[0])
                if words[1] != "read":
                    written.add(words[2])
        shared = sum(len(threads_of) > 1 and name in written for name, threads_of in users.items())
        return {"threads": len(threads), "svars": shared, "events": events, "regions": units}

    def predict(self, binary, arguments, replay=False):
        """(findings, stage name → stage, shape of the trace, seconds); empty where there is nothing yet."""
        key = (binary, tuple(arguments), replay)
        if key not in self.predicted:
            self.predicted[key] = self.predict_now(binary, arguments, replay)
        return self.predicted[key]

    def predict_now(self, binary, arguments, replay):
        trace = self.trace(binary, arguments)
        if trace is None:
            return None, {}, {}, None
        options = ["--budget", REPLAY_SECONDS, "--solver-seconds", SOLVER_SECONDS] if replay else ["--no-replay"]
        (result, seconds) = timed(self.findings, "predict", *options, "--all", trace)
        stages = {stage["name"]: stage for stage in result["stages"]} if result else {}
        return result, stages, self.shape(trace), seconds if result else None

    def witnessed_by_executor(self, binary, schedule):
        """Ids of the triples that schedules of this policy run into by themselves, as the judge says of their traces."""
        ids = set()
        for seed in range(1, EXECUTOR_SEEDS + 1):
            trace = self.trace(binary, [], schedule, seed)
            result = self.findings("predict", "--no-replay", "--solver-seconds", 0, trace) if trace else None
            ids |= at_least(result["findings"], "witnessed") if result else set()
            if trace:
                trace.unlink(missing_ok=True)
        return ids

    def conditions(self, binaries):
        """(recognised, non-atomic, exact time over theirs) on random schedules of these programs, as the judge's own
        benchmark counts them; None where it is not built."""
        traces = [self.trace(binary, [], "random", seed) for binary in binaries for seed in (1, 2, 3)]
        try:
            done = subprocess.run([self.build / "bench" / "judge_bench", *filter(None, traces)], capture_output=True,
                                  timeout=300)
        except (FileNotFoundError, subprocess.TimeoutExpired):
            return None
        text = done.stdout.decode(errors="replace")
        every = re.search(r"^\s*all\s+\d+\s+\d+\s+(\d+)\s+(\d+)", text, re.MULTILINE)
        ratio = re.search(r": (\d+) times", text)
        return (int(every[2]), int(every[1]), int(ratio[1])) if every and ratio else None

    def check(self, binary, arguments=(), seeds=MARATHON_SEEDS):
        """Unique cycles over some random schedules: size → count, and the largest graph and depth, and threads."""
        if not self.cleave.has("check"):
            return None
        cycles, graph, depth, threads = {}, 0, 0, 0
        for seed in range(1, seeds + 1):
            trace = self.trace(binary, arguments, "random", seed)
            result = self.findings("check", trace) if trace else None
            if result is None:
                return None
            if seed == 1:
                threads = self.shape(trace).get("threads", 0)
            trace.unlink(missing_ok=True)
            for finding in result["findings"]:
                cycles[finding["id"]] = finding.get("size", 0)
            for stage in result["stages"]:
                graph, depth = max(graph, stage.get("most_live", 0)), max(depth, stage.get("deepest", 0))
        sizes = {}
        for size in cycles.values():
            sizes[size] = sizes.get(size, 0) + 1
        return {"sizes": sizes, "graph": graph, "depth": depth, "threads": threads, "total": len(cycles)}

    def slowdown(self, binary):
        """(live, post-mortem): wall time of check -- PROG, and of record, over the native program's, with as many
        iterations as make the native program run long enough: a factor; (factor,) where the run was stopped and it is
        more than that; None where the program is not there."""
        native, instrumented = self.native / binary, self.cleave.programs / binary
        if not native.exists() or not self.cleave.has("check"):
            return None, None
        iterations, plain = 1, self.best([native, "--iters", 1], 1)
        while plain is not None and plain < NATIVE_SECONDS and iterations < 1 << 22:
            iterations *= 2 if plain > NATIVE_SECONDS / 4 else 8
            plain = self.best([native, "--iters", iterations], 1)
        if plain is None:
            return None, None
        work = ["--iters", iterations]
        plain = self.best([native, *work], 3)
        trace = Path(self.folder.name) / "slow.cleave"
        recorded = self.best([self.cleave.tool, "record", "--quiet", "-o", trace, "--", instrumented, *work], 2)
        live = self.best([self.cleave.tool, "check", "--quiet", "--", instrumented, *work], 1)
        trace.unlink(missing_ok=True)
        return tuple((RUN_SECONDS / plain,) if taken is None else taken / plain for taken in (live, recorded))

    def best(self, command, times):
        """The shortest wall time of some runs; None if one does not end in time."""
        taken = []
        for _ in range(times):
            start = time.monotonic()
            try:
                subprocess.run(list(map(str, command)), capture_output=True, timeout=RUN_SECONDS, cwd=self.folder.name)
            except subprocess.TimeoutExpired:
                return None
            taken.append(time.monotonic() - start)
        return min(taken)

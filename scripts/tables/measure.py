"""Our figures for the papers' tables: every number comes from a findings file or a trace of this run."""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "programs"))
import engines  # noqa: E402
import suite  # noqa: E402

NOT_YET = "not yet"
MARATHON_SEEDS = 10  # random schedules of each program of Marathon's table
RANDOM_SEEDS = 10    # random schedules for "executor alone"
REPLAY_SECONDS = 10  # for running a program, all its candidates together
NATIVE_SECONDS = 0.1  # a program whose slowdown is measured runs at least so long natively


def timed(function, *arguments):
    start = time.monotonic()
    result = function(*arguments)
    return result, time.monotonic() - start


class Measure:
    def __init__(self, build):
        self.build = Path(build).resolve()
        self.cleave = engines.Cleave(build)
        self.native = Path(build).resolve() / "programs" / "native"
        self.folder = tempfile.TemporaryDirectory()
        self.errors = []
        self.predicted = {}

    def trace(self, binary, arguments, schedule="serial", seed=1):
        """The path of a recorded run, or None."""
        if not self.cleave.has("record"):
            return None
        path = Path(self.folder.name) / f"{binary.replace('/', '-')}-{schedule}-{seed}.cleave"
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

    def text_trace(self, trace):
        """The lines of the text trace, or None."""
        if trace is None or not self.cleave.has("trace"):
            return None
        out = Path(self.folder.name) / "trace.txt"
        out.unlink(missing_ok=True)
        status, _ = self.cleave.run("trace", "export", trace, "-o", out)
        if status != 0 or not out.exists():
            done = subprocess.run([self.cleave.tool, "trace", "export", trace], capture_output=True, timeout=300)
            if done.returncode != 0:
                return None
            return done.stdout.decode(errors="replace").splitlines()
        return out.read_text(errors="replace").splitlines()

    def shape(self, trace):
        """Threads, shared variables, events and units of a trace, counted in its text form."""
        lines = self.text_trace(trace)
        if lines is None:
            return {}
        threads, users, events, units = set(), {}, 0, 0
        for line in lines:
            words = line.split("#")[0].split()
            if len(words) < 2 or words[0] == "init":
                continue
            events += 1
            threads.add(words[0])
            units += words[1] == "begin"
            if words[1] in ("read", "write", "update"):
                users.setdefault(words[2], set()).add(words[0])
        shared = sum(len(threads_of) > 1 for threads_of in users.values())
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
        options = ["--budget", REPLAY_SECONDS] if replay else ["--no-replay"]
        (result, seconds) = timed(self.findings, "predict", *options, "--all", trace)
        stages = {stage["name"]: stage for stage in result["stages"]} if result else {}
        return result, stages, self.shape(trace), seconds if result else None

    def witnessed_at_random(self, binary, arguments):
        """Ids of the triples that random schedules run into by themselves."""
        ids = set()
        for seed in range(1, RANDOM_SEEDS + 1):
            trace = self.trace(binary, arguments, "random", seed)
            result = self.findings("predict", "--no-replay", "--stages", "patterns,order,locks", trace) if trace else None
            for finding in result["findings"] if result else []:
                if suite.VERDICTS.index(finding["verdict"]) >= suite.VERDICTS.index("witnessed"):
                    ids.add(finding["id"])
        return ids

    def conditions(self, binaries):
        """(share of the non-atomic triples that the conditions recognise, exact time over theirs) on random schedules
        of these programs, as the judge's own benchmark counts them; None where it is not built."""
        tool = self.build / "bench" / "judge_bench"
        traces = [self.trace(binary, [], "random", seed) for binary in binaries for seed in (1, 2, 3)]
        try:
            done = subprocess.run([tool, *filter(None, traces)], capture_output=True, timeout=300)
        except (FileNotFoundError, subprocess.TimeoutExpired):
            return None
        return done.stdout.decode(errors="replace") if done.returncode == 0 else None

    def check(self, binary, arguments, seeds=MARATHON_SEEDS, schedule="random"):
        """Unique cycles over some schedules: size → count, and the largest graph and depth."""
        if not self.cleave.has("check"):
            return None
        cycles, graph, depth, threads = {}, 0, 0, 0
        for seed in range(1, seeds + 1):
            trace = self.trace(binary, arguments, schedule, seed)
            result = self.findings("check", trace) if trace else None
            if result is None:
                return None
            for finding in result["findings"]:
                cycles[finding["id"]] = finding.get("size", 0)
            for stage in result["stages"]:
                graph, depth = max(graph, stage.get("most_live", 0)), max(depth, stage.get("deepest", 0))
                threads = max(threads, stage.get("threads", 0))
        sizes = {}
        for size in cycles.values():
            sizes[size] = sizes.get(size, 0) + 1
        return {"sizes": sizes, "graph": graph, "depth": depth, "threads": threads, "total": len(cycles)}

    def slowdown(self, binary, arguments):
        """(live, post-mortem): wall time of check -- PROG, and of record, over the native program's; best of two, with
        as many iterations as make the native program run long enough. None where it does not end."""
        native, instrumented = self.native / binary, self.cleave.programs / binary
        if not native.exists() or not self.cleave.has("check"):
            return None, None
        iterations, plain = 1, best([native, *arguments, "--iters", 1], 1)
        while plain is not None and plain < NATIVE_SECONDS and iterations < 1 << 22:
            iterations *= 2 if plain > NATIVE_SECONDS / 4 else 8
            plain = best([native, *arguments, "--iters", iterations], 1)
        work = [*arguments, "--iters", iterations]
        plain = best([native, *work], 3)
        trace = Path(self.folder.name) / "slow.cleave"
        recorded = best([self.cleave.tool, "record", "--quiet", "-o", trace, "--", instrumented, *work], 2)
        live = best([self.cleave.tool, "check", "--quiet", "--", instrumented, *work], 2)
        trace.unlink(missing_ok=True)
        if not plain:
            return None, None
        return live / plain if live else None, recorded / plain if recorded else None


def best(command, times):
    """The shortest wall time of some runs; None if one does not end in time, or is not there."""
    taken = []
    for _ in range(times):
        start = time.monotonic()
        try:
            subprocess.run(list(map(str, command)), capture_output=True, timeout=60)
        except (subprocess.TimeoutExpired, FileNotFoundError):
            return None
        taken.append(time.monotonic() - start)
    return min(taken)

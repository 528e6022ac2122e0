"""The way in: `nox -l` lists every session.

Torch, NumPy and pytest do not change between cells, so all sessions share one environment, and a Warp release is laid
over it in seconds. Torch is pinned exactly: a range would fetch a CUDA build of gigabytes.
"""

import sys
import time
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path

import nox
import tomllib

nox.needs_version = ">=2024.10.9"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["conformance"]

ROOT = Path(__file__).parent
PYTHON = str(ROOT / ".nox/environment/bin/python")
WORKSPACE = nox.project.load_toml(ROOT / "pyproject.toml")
RELEASES = tomllib.loads((ROOT / "conformance/src/tapecheck/releases.toml").read_text())["release"]
ALL = [release["version"] for release in RELEASES]
DEFAULT = [release["version"] for release in RELEASES if "default" in release.get("tags", ())]
GIVEN = [
    part for argument in sys.argv for part in (argument.split("=", 1) if argument[:7] == "--warp=" else [argument])
]
NAMED = [after for option, after in pairwise(GIVEN) if option == "--warp"]
"""A release, wheel or folder given after `--`: it takes the place of the list, so that nothing needs editing."""
JUDGED: list[str] = []
"""The releases whose sessions have run: those that the matrix must have."""

session = nox.session(venv_backend="none", requires=["environment"])


def python(session: nox.Session, *arguments: str, **env: str) -> None:
    """Runs a module in the shared environment, torch on one thread: several wait for each other on small data."""
    session.run(PYTHON, "-m", *arguments, env={"OMP_NUM_THREADS": "1", **env})


@nox.session
def environment(session: nox.Session) -> None:
    """Make the environment that the other sessions share."""
    session.install("torch==2.13.0", *nox.project.dependency_groups(WORKSPACE, "dev"))
    session.install("--editable", "packages/core", "--editable", "conformance")


def rest(session: nox.Session) -> list[str]:
    """What was given after `--` besides the Warp."""
    if session.posargs[-1:] == ["--warp"]:
        session.error("--warp needs a release, a wheel file or a folder")
    return [given for given in session.posargs if given not in ("--warp", *NAMED) and given[:7] != "--warp="]


def is_part(posargs: list[str]) -> bool:
    """Whether families, ids or a `-k` are among the arguments of a run; every option but `--resume` takes a value."""
    named = (after for before, after in pairwise(["", *posargs]) if before[:1] != "-" or before == "--resume")
    return "-k" in posargs or any(name[:1] != "-" for name in named)


def judge(session: nox.Session, warp: str, *subjects: str) -> None:
    """Judges subjects on a release; the matrix follows. Where only a part is asked for, that of the first one alone.

    A whole cell of a listed release is judged again only where the subject, the environment or the suite has changed.
    """
    posargs = rest(session)
    named, part = "--subject" in posargs, is_part(posargs)
    if not part:
        JUDGED.extend([] if named else [warp])
        session.notify("matrix", [])
    if part or named:
        subjects = subjects[:1]
    kept = () if part or NAMED else ("--resume",)
    for subject in subjects:
        python(session, "tapecheck.cli", "run", "--subject", subject, "--warp", warp, *kept, *posargs)


@session
@nox.parametrize("warp", NAMED or DEFAULT)
def conformance(session: nox.Session, warp: str) -> None:
    """Judge one release of the everyday set; `-- --warp V` any other."""
    judge(session, warp, "warp", *([] if NAMED else ["sphweft"]))


@session
@nox.parametrize("warp", ALL)
def conformance_all(session: nox.Session, warp: str) -> None:
    """Judge one release of all; an interrupted run goes on where it ended."""
    judge(session, warp, "warp")


@session
def matrix(session: nox.Session) -> None:
    """Merge the results that lie in build/conformance."""
    due = [warp for warp in JUDGED if not Path(warp).exists()]
    python(session, "tapecheck.cli", "matrix", *(["--plan", ",".join(due)] if due else []), *session.posargs)


@session
def upgrade(session: nox.Session) -> None:
    """Say what changes between two releases, contracts and speed: `-- 1.12.1 1.13.0`."""
    python(session, "tapecheck.cli", "upgrade", *session.posargs)


@session
@nox.parametrize("warp", NAMED or DEFAULT)
def bench(session: nox.Session, warp: str) -> None:
    """Time one release and the newest listed one by turns; `-- --warp V` any other. Without it, the core as well."""
    if not NAMED:
        session.notify("bars", [])
    python(session, "tapecheck.cli", "bench", warp, *rest(session))


@session
def bars(session: nox.Session) -> None:
    """Time the core beside plain torch, a hand-written kernel, and warpsphcore where it can be installed."""
    peer = ("pip", "install", "--quiet", "--no-deps", "warpsphcore>=0.6,<0.7")
    session.run(PYTHON, "-m", *peer, success_codes=[0, 1])
    session.run(PYTHON, "benchmarks/core/bars.py", *session.posargs)


@session
def bench_gate(session: nox.Session) -> None:
    """Hold counts against budgets, and times against those of a base commit: `-- --base main~5`, `-- --counts`."""
    if set(session.posargs) & {"--counts", "--only"}:
        session.run(PYTHON, "benchmarks/core/gate.py", *session.posargs)
        return
    kept = ROOT / "build/gate/history" / f"{datetime.now(timezone.utc):%Y-%m-%dT%H-%M-%S}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    session.env["WARP_CACHE_PATH"] = str(ROOT / "build/gate/kernels/speed")
    python(
        session,
        "pytest",
        "-q",
        "benchmarks/core/test_core.py",
        "--benchmark-columns=median,iqr,rounds",
        f"--benchmark-json={kept}",
    )
    session.run(PYTHON, "benchmarks/core/trend.py", str(kept.parent))
    session.run(PYTHON, "benchmarks/core/gate.py", "--history", str(kept), *session.posargs)


@session
def sweep(session: nox.Session) -> None:
    """Hold every combination of an operator's choices against the oracle."""
    python(session, "pytest", "-q", "-n", "2", "conformance/tests/sweep_operators.py", *session.posargs)


@session
def fuzz(session: nox.Session) -> None:
    """Try 20,000 examples of particles, and of what happens to caches, beside the oracle; end at the first failure."""
    session.env["FUZZ_EXAMPLES"] = "20000"
    python(session, "pytest", "-q", "-x", "-n", "2", "conformance/tests/test_fuzz.py", *session.posargs)


@session
def bisect(session: nox.Session) -> None:
    """Name the first release in which a contract flips: `-- retain.last-write-wins`."""
    python(session, "tapecheck.cli", "bisect", *session.posargs)


@session
def faults(session: nox.Session) -> None:
    """Judge the checks: plant every fault and near miss."""
    python(session, "tapecheck.cli", "faults", *session.posargs)


@session
@nox.parametrize("warp", NAMED or ALL)
def hunt(session: nox.Session, warp: str) -> None:
    """Try many small kernels on one release of all; `docs/hunt.md` follows."""
    session.notify("hunt_report", [])
    python(session, "tapecheck.cli", "hunt", "--warp", warp)


@session
def hunt_report(session: nox.Session) -> None:
    """Merge what the hunt found in build/hunt into docs/hunt.md."""
    python(session, "tapecheck.cli", "hunt-report", *session.posargs)


@session
def tests(session: nox.Session) -> None:
    """Test both packages, and run the reproducers."""
    python(session, "pytest", *session.posargs)


@session
def examples(session: nox.Session) -> None:
    """Run every example as a user would, with the time of each: `-- inverse` one; pictures go to build/examples."""
    for name in session.posargs or sorted(path.stem for path in (ROOT / "examples").glob("*.py")):
        begin = time.perf_counter()
        session.run(PYTHON, str(ROOT / f"examples/{name}.py"), env={"OMP_NUM_THREADS": "1"})
        session.log(f"{name}: {time.perf_counter() - begin:.0f} s")


@session
def wheels(session: nox.Session) -> None:
    """Build both packages into dist/, and try them and README's recipes far from the repository."""
    session.run(PYTHON, ".ci/wheels.py")


@session
def docs(session: nox.Session) -> None:
    """Build the site into build/site, run the Python of its pages, follow its links."""
    tools = nox.project.dependency_groups(WORKSPACE, "docs")
    session.run(PYTHON, "-m", "pip", "install", "--quiet", *tools)
    python(session, "pytest", "-q", "-p", "docs.snippets", "docs", "packages/core/README.md")
    python(session, "mkdocs", "build", NO_MKDOCS_2_WARNING="1")
    python(session, "pytest", "-q", "docs/check_site.py", "conformance/tests/test_page_in_browser.py")


@session
def lint(session: nox.Session) -> None:
    """Check style, format, which package may import which, and what hosted CI is told."""
    python(session, "ruff", "check", ".")
    python(session, "ruff", "format", "--check", ".")
    session.run(str(Path(PYTHON).with_name("lint-imports")))
    workflows = sorted(map(str, (ROOT / ".github/workflows").glob("*.yml")))
    for schema, files in (("github-workflows", workflows), ("citation-file-format", ["CITATION.cff"])):
        python(session, "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files)
    session.run(str(Path(PYTHON).with_name("zizmor")), "--offline", "--quiet", ".github")


@session
def types(session: nox.Session) -> None:
    """Check the types."""
    python(session, "mypy")

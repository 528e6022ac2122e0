"""Both packages as a user gets them: built, looked into, installed far from the repository, README's recipes run.

A recipe is a fenced block of README.md below `<!-- recipe NAME -->`: a Python one is kept as the file NAME and run, a
shell one is run and must end with the status NAME, and each line of a text one must be a part of what was printed, but
for its …. So the text that is tested is the one that is read.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import tomllib

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
PACKAGES = {"sphweft": ROOT / "packages/core", "tapecheck": ROOT / "conformance"}
NEWEST = tomllib.loads((ROOT / "conformance/src/tapecheck/releases.toml").read_text())["release"][-1]["version"]
RECIPE = re.compile(r"^<!-- recipe (\S+) -->\n```(python|sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SMALL = """
tapecheck --version
tapecheck list
tapecheck explain retain.last-write-wins
tapecheck run tape -k zero
python -m sphweft --version
""".strip().splitlines()
"""What else must work where there are only the wheels."""


def build() -> list[Path]:
    """The wheels, each built from its source archive."""
    for old in DIST.glob("*"):
        old.unlink()
    for folder in PACKAGES.values():
        subprocess.run([sys.executable, "-m", "build", "--outdir", DIST, folder], check=True)
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *DIST.iterdir()], check=True)
    return sorted(DIST.glob("*.whl"))


def look_into(wheel: Path) -> None:
    """Every file of the package that git knows is in the wheel, the licence too, and nothing else."""
    name, version, *_ = wheel.name.split("-")
    source = PACKAGES[name] / "src"
    tracked = subprocess.check_output(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=source)
    due = set(tracked.decode().splitlines())
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        found = {entry for entry in archive.namelist() if not entry.startswith(info)}
        licence = archive.read(f"{info}/licenses/LICENSE")
    if found != due or f"{name}/py.typed" not in found:
        sys.exit(f"{wheel.name}: files missing or too many: {sorted(found ^ due)}")
    if licence != (ROOT / "LICENSE").read_bytes():
        sys.exit(f"{PACKAGES[name].relative_to(ROOT)}/LICENSE differs from the repository's")


def shell(command: str, folder: Path, status: int = 0) -> str:
    """What a command prints in the folder, by the environment that lies there."""
    print(f"$ {command}", flush=True)
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment = kept | {"PATH": f"{folder / 'environment/bin'}:{os.environ['PATH']}", "COLUMNS": "1000"}
    done = subprocess.run(["bash", "-ec", command], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"{done.stdout}{done.stderr}\nstatus {done.returncode}, expected {status}")
    return done.stdout


def main() -> None:
    wheels = build()
    for wheel in wheels:
        look_into(wheel)
    recipes = RECIPE.findall((ROOT / "README.md").read_text())
    if len({name for name, kind, _ in recipes if kind == "python"}) < 2:
        sys.exit("README.md has lost its recipes")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        subprocess.run([sys.executable, "-m", "venv", folder / "environment"], check=True)
        shell(f"pip install --quiet torch==2.13.0 warp-lang=={NEWEST} {shlex.join(map(str, wheels))}", folder)
        for command in SMALL:
            shell(command, folder)
        printed = ""
        for name, kind, text in recipes:
            if kind == "python":
                (folder / name).write_text(text)
                printed = shell(f"python {name}", folder)
            elif kind == "sh":
                printed = shell(text, folder, int(name))
            elif missing := [line for line in text.splitlines() if line.strip(" …") not in printed]:
                sys.exit("\n".join([printed, "README.md says that this is printed:", *missing]))
    print(f"{len(wheels)} wheels, {len(SMALL)} commands, {len(recipes)} blocks of README.md: as they should be")


if __name__ == "__main__":
    main()

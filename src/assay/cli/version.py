"""``assay --version --verbose``: what a bug report needs, and nothing that says who or where you are."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, metadata, requires, version

from assay._version import __version__

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"extra == ['\"](?P<extra>[^'\"]+)['\"]")


def version_lines() -> list[str]:
    """Return the versions of Assay, Python, the system, and every package that an extra needs."""
    lines = [f"assay {__version__}"]
    lines.append(
        f"{platform.python_implementation()} {platform.python_version()} on {platform.system()} "
        f"{platform.release()} {platform.machine()}, {os.cpu_count()} cores"
    )
    core, extras = _wanted()
    lines += [_found(package) for package in core]
    lines.append("extras:")
    for extra, packages in sorted(extras.items()):
        if not packages:
            continue
        missing = [package for package in packages if _version(package) is None]
        told = ", ".join(_found(package) for package in packages if package not in missing)
        if not missing:
            lines.append(f"  {extra}: {told}")
        elif told:
            lines.append(f"  {extra}: not whole: {told}; without {', '.join(missing)}")
    absent = [name for name, packages in extras.items() if packages and not any(map(_version, packages))]
    if absent:
        lines.append(f"  not installed: {', '.join(absent)}")
    return lines


def _wanted() -> tuple[list[str], dict[str, list[str]]]:
    """Return the packages of the core, and those of each extra, as the distribution declares them."""
    try:
        lines = requires("retrieval-assay") or []
        extras: dict[str, list[str]] = {
            name: [] for name in metadata("retrieval-assay").get_all("Provides-Extra") or []
        }
    except PackageNotFoundError:
        return [], {}
    core: list[str] = []
    for line in lines:
        name = _NAME.match(line)
        extra = _EXTRA.search(line)
        if name is None:
            continue
        if extra is None:
            core.append(name[0])
        elif "sys_platform" not in line or platform.system() == "Linux":
            extras.setdefault(extra["extra"], []).append(name[0])
    return core, extras


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _found(package: str) -> str:
    return f"{package} {_version(package) or 'is not installed'}"

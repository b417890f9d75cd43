"""Which wheels a folder lacks for the interpreter that is running: file names read against its tags, standard library only.

A closed network installs from such a folder alone, so a wheel that is missing, or made for another machine, is better found
before the folder is carried there. Source: the Python packaging guide, "Platform compatibility tags" and "Binary distribution
format" (PEP 425, 427, 600, 656).
"""
from __future__ import annotations

import platform
import re
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

Version = tuple[int, ...]

_WHEEL = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(?:-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")
_MANYLINUX = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}  # the older names of a glibc


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """A package that must be in the folder. `below` is the first version that is too new; `wanted_by` who brings it in, None for
    this program; `python_below` the first interpreter that does without it."""

    name: str
    at_least: Version
    below: Version | None = None
    wanted_by: str | None = None
    python_below: Version | None = None

    def bounds(self) -> str:
        most = f", <{_dotted(self.below)}" if self.below else ""
        return f"{self.name} >={_dotted(self.at_least)}{most}"


# A test holds this table to pyproject.toml and to what the installed packages themselves require.
NEEDED = (
    Needed(name="requests", at_least=(2, 31), below=(3,)),
    Needed(name="lxml", at_least=(5, 2), below=(7,)),
    Needed(name="jsonschema", at_least=(4, 20), below=(5,)),
    Needed(name="charset-normalizer", at_least=(2,), below=(4,), wanted_by="requests"),
    Needed(name="idna", at_least=(2, 5), below=(4,), wanted_by="requests"),
    Needed(name="urllib3", at_least=(1, 26), below=(3,), wanted_by="requests"),
    Needed(name="certifi", at_least=(2023, 5, 7), wanted_by="requests"),
    Needed(name="attrs", at_least=(22, 2), wanted_by="jsonschema"),
    Needed(name="jsonschema-specifications", at_least=(2023, 3, 6), wanted_by="jsonschema"),
    Needed(name="referencing", at_least=(0, 31), wanted_by="jsonschema"),
    Needed(name="rpds-py", at_least=(0, 25), wanted_by="jsonschema"),
    Needed(name="typing-extensions", at_least=(4, 4), wanted_by="referencing", python_below=(3, 13)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What decides whether a wheel fits. `abi` is "" where only pure wheels do (an interpreter other than CPython).

    `platform` is as wheels spell it ("linux_x86_64", "macosx_14_0_arm64", "win_amd64"); `glibc` None: the C library is another.
    """

    python: Version
    abi: str
    platform: str
    glibc: Version | None = None

    @classmethod
    def here(cls) -> Machine:
        minor = sys.version_info.minor
        free_threaded = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
        library, version = platform.libc_ver()
        system = re.sub(r"[-.]", "_", sysconfig.get_platform())
        if sys.platform == "darwin":  # the platform of the build can be older than the system it runs on
            system = f"macosx_{'_'.join((platform.mac_ver()[0] + '.0').split('.')[:2])}_{platform.machine()}"
        return cls(python=(3, minor), abi=f"cp3{minor}{free_threaded}" if sys.implementation.name == "cpython" else "",
                   platform=system, glibc=_version(version) if library == "glibc" else None)

    def takes(self, wheel: re.Match[str]) -> bool:
        """Whether one of the tags in a wheel's name is one of this machine's; a name may join several with points."""
        pythons, abis, platforms = (wheel[part].split(".") for part in ("python", "abi", "platform"))
        return any(self._runs(python, abi) for python in pythons for abi in abis) and any(map(self._stands_on, platforms))

    def _runs(self, python: str, abi: str) -> bool:
        tag = re.fullmatch(r"(py|cp)3(\d*)", python)
        if tag is None:
            return False
        ours, theirs = self.python[1], int(tag[2] or 0)
        if abi == "none":
            return theirs <= ours if tag[1] == "py" else bool(self.abi) and theirs == ours
        if abi == "abi3":  # the stable interface; free-threaded builds do not have it
            return self.abi == f"cp3{ours}" and theirs <= ours
        return abi == self.abi and theirs == ours

    def _stands_on(self, tag: str) -> bool:
        if tag in ("any", self.platform):
            return True
        family, _, rest = tag.partition("_")
        if family in _MANYLINUX:
            return self._has_glibc(_MANYLINUX[family], rest)
        numbered = re.fullmatch(r"(\d+)_(\d+)_(.+)", rest)
        if numbered is None:
            return False
        version, machine = (int(numbered[1]), int(numbered[2])), numbered[3]
        if family == "manylinux":
            return self._has_glibc(version, machine)
        if family == "musllinux":
            return self.glibc is None and self.platform == f"linux_{machine}"
        mac = re.fullmatch(r"macosx_(\d+)_(\d+)_(.+)", self.platform)
        return bool(mac and family == "macosx" and machine in (mac[3], "universal2") and version <= (int(mac[1]), int(mac[2])))

    def _has_glibc(self, version: Version, machine: str) -> bool:
        return self.glibc is not None and version <= self.glibc and self.platform == f"linux_{machine}"


def lacking(folder: Path, machine: Machine) -> Iterator[str]:
    """One line for each package that cannot be installed from the folder. Raises OSError when it cannot be read."""
    wheels = [wheel for path in sorted(folder.iterdir()) if (wheel := _WHEEL.fullmatch(path.name))]
    for needed in NEEDED:
        if needed.python_below and machine.python >= needed.python_below:
            continue
        named = [wheel for wheel in wheels if re.sub(r"[-_.]+", "-", wheel["name"]).lower() == needed.name]
        fitting = [wheel for wheel in named if machine.takes(wheel)]
        if not any(_within(needed, _version(wheel["version"])) for wheel in fitting):
            yield f"{needed.bounds()}{_wanted(needed)}: {_why(named, fitting, machine)}"


def _why(named: list[re.Match[str]], fitting: list[re.Match[str]], machine: Machine) -> str:
    if fitting:
        return "only other versions: " + ", ".join(wheel["version"] for wheel in fitting)
    if named:
        ours = f"{machine.abi or 'pure Python'} on {machine.platform}"
        return f"none for this interpreter ({ours}); there is " + ", ".join(wheel[0] for wheel in named)
    return "no wheel"


def _wanted(needed: Needed) -> str:
    return f" (for {needed.wanted_by})" if needed.wanted_by else ""


def _within(needed: Needed, version: Version) -> bool:
    return needed.at_least <= version and (needed.below is None or version < needed.below)


def _version(text: str) -> Version:
    """The numbers that a version begins with; what follows ("rc1", "post1") decides nothing here."""
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))

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
from itertools import product
from pathlib import Path

Version = tuple[int, ...]

_WHEEL = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(?:-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")
_OLD_GLIBC = {"manylinux1": 5, "manylinux2010": 12, "manylinux2014": 17}  # the older names of a glibc 2.x
_MUSL_MINORS = range(10)  # of musl 1.x, whose version nobody tells; wheels name 1.1 and 1.2
_LAST_MAC_OS_10 = 16  # how macOS 11 names itself to old programs


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """A package that must be in the folder. `below` is the first version that is too new; `wanted_by` who brings it in, None for
    this program; `python_below` the first interpreter that does without it."""

    name: str
    at_least: str
    below: str | None = None
    wanted_by: str | None = None
    python_below: Version | None = None

    def bounds(self) -> str:
        return f"{self.name} >={self.at_least}" + (f", <{self.below}" if self.below else "")

    def accepts(self, version: str) -> bool:
        return _version(self.at_least) <= _version(version) and (self.below is None or _version(version) < _version(self.below))


# A test holds this table to pyproject.toml and to what the installed packages themselves require.
NEEDED = (
    Needed(name="requests", at_least="2.31", below="3"),
    Needed(name="lxml", at_least="5.2", below="7"),
    Needed(name="jsonschema", at_least="4.20", below="5"),
    Needed(name="charset-normalizer", at_least="2", below="4", wanted_by="requests"),
    Needed(name="idna", at_least="2.5", below="4", wanted_by="requests"),
    Needed(name="urllib3", at_least="1.26", below="3", wanted_by="requests"),
    Needed(name="certifi", at_least="2023.5.7", wanted_by="requests"),
    Needed(name="attrs", at_least="22.2", wanted_by="jsonschema"),
    Needed(name="jsonschema-specifications", at_least="2023.3.6", wanted_by="jsonschema"),
    Needed(name="referencing", at_least="0.31", wanted_by="jsonschema"),
    Needed(name="rpds-py", at_least="0.25", wanted_by="jsonschema"),
    Needed(name="typing-extensions", at_least="4.4", wanted_by="referencing", python_below=(3, 13)),
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

    def __str__(self) -> str:
        return f"{self.abi or 'pure Python'} on {self.platform}"

    def takes(self, wheel: re.Match[str]) -> bool:
        """Whether one of the tags in a wheel's name is one of this machine's; a name may join several with points."""
        pythons, abis, platforms = (wheel[part].split(".") for part in ("python", "abi", "platform"))
        return not self._interpreters().isdisjoint(product(pythons, abis)) and not self._platforms().isdisjoint(platforms)

    def _interpreters(self) -> set[tuple[str, str]]:
        """The pairs of interpreter and ABI that run here."""
        minor = self.python[1]
        taken = {("py3", "none"), *((f"py3{older}", "none") for older in range(minor + 1))}
        if self.abi:
            taken |= {(f"cp3{minor}", "none"), (f"cp3{minor}", self.abi)}
        if self.abi == f"cp3{minor}":  # the stable interface; free-threaded builds do not have it
            taken |= {(f"cp3{older}", "abi3") for older in range(2, minor + 1)}
        return taken

    def _platforms(self) -> set[str]:
        taken, (system, _, machine) = {"any", self.platform}, self.platform.partition("_")
        if system == "linux" and self.glibc is None:
            taken |= {f"musllinux_1_{minor}_{machine}" for minor in _MUSL_MINORS}
        elif system == "linux" and self.glibc is not None:
            minors = [*range(self.glibc[1] + 1)]
            taken |= {f"manylinux_2_{minor}_{machine}" for minor in minors}
            taken |= {f"{name}_{machine}" for name, minor in _OLD_GLIBC.items() if minor in minors}
        elif system == "macosx":
            major, minor, kind = machine.split("_", 2)
            versions = [f"10_{older}" for older in range((_LAST_MAC_OS_10 if int(major) > 10 else int(minor)) + 1)]
            versions += [f"{older}_0" for older in range(11, int(major) + 1)]
            taken |= {f"macosx_{version}_{built}" for version in versions for built in (kind, "universal2")}
        return taken


def lacking(folder: Path, machine: Machine) -> Iterator[str]:
    """One line for each package that cannot be installed from the folder. Raises OSError when it cannot be read."""
    wheels = [wheel for path in sorted(folder.iterdir()) if (wheel := _WHEEL.fullmatch(path.name))]
    for needed in NEEDED:
        if needed.python_below and machine.python >= needed.python_below:
            continue
        named = [wheel for wheel in wheels if re.sub(r"[-_.]+", "-", wheel["name"]).lower() == needed.name]
        versions = [wheel["version"] for wheel in named if machine.takes(wheel)]
        if any(map(needed.accepts, versions)):
            continue
        why = "no wheel"
        if versions:
            why = "only other versions: " + ", ".join(versions)
        elif named:
            why = f"none for this interpreter ({machine}); there is " + ", ".join(wheel[0] for wheel in named)
        wanted = f" (for {needed.wanted_by})" if needed.wanted_by else ""
        yield f"{needed.bounds()}{wanted}: {why}"


def _version(text: str) -> Version:
    """The numbers that a version begins with; what follows ("rc1", "post1") decides nothing here."""
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()

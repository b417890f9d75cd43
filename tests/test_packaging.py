"""Installing and starting: what is in a package, and that it starts wherever a host or a closed network puts it."""
from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import manifest
import pytest

import mcp_books
from sources.asking.schemas import TOOLS
from sources.settings import PROJECT_URL
from sources.shell.check import NEEDED

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
LISTING = "".join(json.dumps(message) + "\n" for message in (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}))
SETUPTOOLS_NEEDED = 77  # the first to read pyproject's licence as it is written there


def bare() -> dict[str, str]:
    """An environment of nothing, but for what Windows cannot start without."""
    return {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP") if name in os.environ}


def run(command: Sequence[str | Path], *, cwd: Path, said: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    """A command with the environment given and no more."""
    return subprocess.run([str(part) for part in command], cwd=cwd, input=said, env={**bare(), **environ}, capture_output=True, text=True,
                          encoding="utf-8", timeout=60, check=False)


def tools_listed(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert (done.returncode, done.stderr) == (0, "")
    return [tool["name"] for tool in json.loads(done.stdout.splitlines()[1])["result"]["tools"]]


def shipped() -> set[str]:
    """What a package holds of this tree, by name."""
    files = [ROOT / "mcp_books.py", ROOT / "sources" / "py.typed", *(ROOT / "sources").rglob("*.py"), *(ROOT / "sources" / "shelf").glob("*.answer"),
             *(ROOT / "sources").rglob("*.tsv"), *(ROOT / "sources").rglob("*.html"), *(ROOT / "schemas").glob("*.json")]
    return {file.relative_to(ROOT).as_posix() for file in files}


# ---- what is in a package ----------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive, made from a copy of the tree by the setuptools that is here."""
    setuptools = pytest.importorskip("setuptools", reason="setuptools is not here: no package was built")
    if int(setuptools.__version__.split(".")[0]) < SETUPTOOLS_NEEDED:
        pytest.skip(f"setuptools {setuptools.__version__} is too old here to build a package")
    folder = tmp_path_factory.mktemp("built")
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "answers"))
    code = f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r}); build_meta.build_sdist({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Deprecation" not in done.stderr
    return folder


def test_the_wheel_holds_the_modules_the_schemas_the_shelf_and_the_licence_and_nothing_else(built: Path) -> None:
    """Nothing in it is compiled, so that it installs everywhere without build tools."""
    [wheel] = built.glob("*.whl")
    about = f"mcp_books-{mcp_books.__version__}.dist-info"

    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        entry_points = opened.read(f"{about}/entry_points.txt").decode()

    assert wheel.name == f"mcp_books-{mcp_books.__version__}-py3-none-any.whl"
    own = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "top_level.txt", "licenses/LICENSE")
    assert names == shipped() | {f"{about}/{name}" for name in own}
    assert entry_points == "[console_scripts]\nmcp-books = mcp_books:main\n"


def test_the_source_archive_builds_what_the_wheel_holds(built: Path) -> None:
    """Beside what ships: what the build reads, and the test modules, which setuptools adds by itself."""
    [archive] = built.glob("*.tar.gz")

    with tarfile.open(archive) as opened:
        names = {member.name.split("/", 1)[1] for member in opened.getmembers() if member.isfile()}

    beside = {name for name in names if not name.startswith(("tests/test_", "mcp_books.egg-info/"))} - shipped()
    assert beside == {"LICENSE", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg"}
    assert shipped() <= names


def test_a_fresh_install_starts_although_a_library_has_a_new_major_version() -> None:
    """Every requirement has a floor and a ceiling, and the table that is checked before a wheel folder is carried says the same."""
    requirements = re.findall(r'"([a-z0-9]+)>=([\d.]+),<(\d+)"', PYPROJECT.split("dependencies = [")[1].split("]")[0])

    assert {name: f">={least},<{below}" for name, least, below in requirements} == NEEDED


# ---- where it starts ---------------------------------------------------------------------------------------------------

@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The program alone in a folder, as a clone or an unpacked bundle has it."""
    folder = tmp_path / "a clone"
    for name in shipped():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def brought_in(names: Iterable[str]) -> set[str]:
    """These distributions and all that they need, as far as it is installed; what an extra asks for is left out."""
    found: set[str] = set()
    due = list(names)
    while due:
        name = due.pop()
        with suppress(importlib.metadata.PackageNotFoundError):
            needs = importlib.metadata.requires(name) or []
            found.add(name)
            due += [need for line in needs if "extra ==" not in line
                    and (need := re.match(r"[A-Za-z0-9._-]+", line)[0].lower()) not in found]  # type: ignore[index]
    return found


@pytest.fixture
def libraries(tmp_path: Path) -> Path:
    """The libraries of this interpreter in a folder of their own, as `pip install --target` leaves them."""
    folder = tmp_path / "libraries"
    folder.mkdir()
    for name in brought_in(NEEDED):
        files = importlib.metadata.files(name) or []
        for top in {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}:
            found = Path(str(importlib.metadata.distribution(name).locate_file(top)))
            (folder / top).symlink_to(found, target_is_directory=found.is_dir())
    return folder


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A working folder with files that bear the names of modules, and fail when they are imported."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in ("json", "requests", "lxml", "jsonschema", "sources", "schemas", "mcp_books", "typing", "threading", "dataclasses"):
        (folder / f"{name}.py").write_text("raise SystemExit('a file of the working folder was imported')\n", encoding="utf-8")
    return folder


@pytest.fixture
def read_only(clone: Path) -> Iterator[Path]:
    for path in (clone, *clone.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield clone
    for path in (clone, *clone.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def test_it_starts_from_a_read_only_folder_with_no_home_and_a_bare_path(read_only: Path) -> None:
    """A host starts it with an environment of its own, often next to nothing."""
    before = {path: path.stat().st_mtime_ns for path in read_only.rglob("*") if path.is_file() and "__pycache__" not in path.parts}

    done = run([sys.executable, read_only / "mcp_books.py"], cwd=Path("/"), said=LISTING, PATH="/nonexistent")

    assert tools_listed(done) == list(TOOLS)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_home_that_cannot_be_written_to_stops_nothing(clone: Path, tmp_path: Path) -> None:
    """The folder for the pace shared between processes cannot be made there; the call fails for the network alone."""
    (tmp_path / "home").write_text("a file where a folder is looked for", encoding="utf-8")
    call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "search_items", "arguments": {
        "query": "fog", "sources": ["openlibrary"]}}}

    environ = {"HOME": str(tmp_path / "home"), "LOCALAPPDATA": str(tmp_path / "home"), "BOOKS_GATEWAY": "http://127.0.0.1:9"}
    with subprocess.Popen([sys.executable, str(clone / "mcp_books.py")], cwd=tmp_path, env={**bare(), **environ}, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(LISTING + json.dumps(call) + "\n")
        process.stdin.flush()  # and left open: once its input has ended, the server answers for a second and no longer
        *_, line = (process.stdout.readline() for _ in range(3))
        process.stdin.close()

    result = json.loads(line)["result"]
    assert result["isError"]
    assert "The connection to Open Library was refused." in result["content"][0]["text"]


def test_files_of_the_working_folder_take_no_modules_place(clone: Path, hostile: Path) -> None:
    """`python path/mcp_books.py` looks beside itself, not where it was started; `demo` imports all there is."""
    environ = {"BOOKS_STATE_DIR": "off"}
    listed = run([sys.executable, clone / "mcp_books.py"], cwd=hostile, said=LISTING, **environ)
    shown = run([sys.executable, clone / "mcp_books.py", "demo"], cwd=hostile, **environ)

    assert tools_listed(listed) == list(TOOLS)
    assert (shown.returncode, shown.stderr) == (0, "")


def test_a_clone_runs_on_libraries_unpacked_in_a_folder(clone: Path, libraries: Path, tmp_path: Path) -> None:
    """Without an installation: an interpreter that sees no site-packages, and PYTHONPATH."""
    command = [sys.executable, "-S", clone / "mcp_books.py", "demo"]

    without = run(command, cwd=tmp_path)
    shown = run(command, cwd=tmp_path, PYTHONPATH=str(libraries))

    assert without.returncode == 1
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "sample shelf" in shown.stdout


LACKING = ("This Python lacks {0}: install {1} for it, or start mcp-books with the Python of the environment that has {1}. "
           "Nothing was asked of any archive.")


def test_a_host_with_an_interpreter_that_lacks_the_libraries_is_told_so(tmp_path: Path) -> None:
    """The list is answered, and each call says what is missing; nothing of this machine's folders is told."""
    search = {"name": "search_inside", "arguments": {"query": "fog"}}
    calls = ({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": search},
             {"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": {"uri": "books://item/loc:00001874"}})
    said = LISTING + "".join(json.dumps(call) + "\n" for call in calls)

    done = run([sys.executable, "-S", ROOT / "mcp_books.py"], cwd=tmp_path, said=said)

    told = LACKING.format("requests, lxml, jsonschema", "them")
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    assert [tool["name"] for tool in replies[2]["result"]["tools"]] == list(TOOLS)
    assert replies[3]["result"] == {"content": [{"type": "text", "text": f"Error: {told}"}], "isError": True}
    assert replies[4]["error"] == {"code": mcp_books.INTERNAL_ERROR, "message": told}
    assert set(done.stderr.splitlines()) == {f"mcp-books: {told}"}


@pytest.mark.parametrize("command", [["demo"], ["search-inside", "fog"]], ids=["demo", "search-inside"])
def test_a_command_without_the_libraries_says_so_in_a_line(tmp_path: Path, command: list[str]) -> None:
    done = run([sys.executable, "-S", ROOT / "mcp_books.py", *command], cwd=tmp_path)

    assert (done.returncode, done.stderr) == (1, f"mcp-books: {LACKING.format('requests, lxml, jsonschema', 'them')}\n")


def test_the_check_of_a_wheel_folder_needs_no_library(tmp_path: Path) -> None:
    """It is wanted before the installation, on the machine that has nothing yet."""
    done = run([sys.executable, "-S", ROOT / "mcp_books.py", "check", "--wheels", tmp_path], cwd=tmp_path)

    assert (done.returncode, done.stderr) == (1, "")
    assert "Wheels for this machine: " in done.stdout


def test_one_missing_library_is_no_fault_of_an_archive(libraries: Path, tmp_path: Path) -> None:
    """What fails inside every archive's thread for want of a library is told once, not as answers that could not be read."""
    (libraries / "requests").unlink()
    environ = {"PYTHONPATH": str(libraries), "BOOKS_STATE_DIR": "off", "BOOKS_GATEWAY": "http://127.0.0.1:9"}

    done = run([sys.executable, "-S", ROOT / "mcp_books.py", "search-items", "fog"], cwd=tmp_path, **environ)

    assert (done.returncode, done.stderr) == (1, f"mcp-books: {LACKING.format('requests', 'it')}\n")


def test_an_installed_command_starts_in_any_folder(built: Path, libraries: Path, hostile: Path, tmp_path: Path) -> None:
    """The wheel unpacked as `pip install --target` does, its entry point called as the script it writes does."""
    [wheel] = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(tmp_path / "installed")
    script = tmp_path / "bin" / "mcp-books"
    script.parent.mkdir()
    script.write_text("import sys\nfrom mcp_books import main\nsys.exit(main())\n", encoding="utf-8")
    path = os.pathsep.join([str(tmp_path / "installed"), str(libraries)])

    listed = run([sys.executable, "-S", script], cwd=hostile, said=LISTING, PYTHONPATH=path)
    shown = run([sys.executable, "-S", script, "demo"], cwd=hostile, PYTHONPATH=path)

    assert tools_listed(listed) == list(TOOLS)
    assert (shown.returncode, shown.stderr) == (0, "")


# ---- beside others of the same name ------------------------------------------------------------------------------------

@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The program's modules in a folder, as an installation puts them among other distributions'."""
    folder = tmp_path / "installed"
    folder.mkdir()
    shutil.copy(ROOT / "mcp_books.py", folder)
    for name in ("sources", "schemas"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def another(tmp_path: Path) -> Path:
    """A folder with top-level packages of the program's own names, which have nothing to do with it."""
    folder = tmp_path / "another"
    for name in ("sources", "schemas"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise RuntimeError('this is another distribution')\n", encoding="utf-8")
        (folder / name / "settings.py").write_text("COLOUR = 'green'\n", encoding="utf-8")
    return folder


def test_names_that_stand_earlier_on_the_path_shadow_nothing(installed: Path, another: Path, libraries: Path) -> None:
    """On PYTHONPATH, in the working directory, or both; as a module and as the script that pip writes."""
    path = os.pathsep.join(map(str, (another, installed, libraries)))
    commands = ([sys.executable, "-S", "-m", "mcp_books"], [sys.executable, "-S", "-c", "import sys, mcp_books; sys.exit(mcp_books.main(sys.argv[1:]))"])

    for command in commands:
        listed = run(command, cwd=another, said=LISTING, PYTHONPATH=path)
        shown = run([*command, "demo"], cwd=another, PYTHONPATH=path)
        asked = run([sys.executable, "-S", "-c", "from mcp_books import BooksClient; print(BooksClient.__module__)"], cwd=another, PYTHONPATH=path)

        assert tools_listed(listed) == list(TOOLS)
        assert (shown.returncode, shown.stderr) == (0, "")
        assert (asked.returncode, asked.stdout, asked.stderr) == (0, "sources.client\n", "")


def test_a_clone_starts_where_a_scripts_own_folder_is_not_on_the_path(clone: Path, libraries: Path, another: Path) -> None:
    environ = {"PYTHONSAFEPATH": "1", "PYTHONPATH": str(libraries)}

    shown = run([sys.executable, "-S", clone / "mcp_books.py", "demo"], cwd=another, **environ)

    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [[], ["demo"], ["--version"]])
def test_another_distribution_in_its_place_is_said_in_a_line(installed: Path, another: Path, libraries: Path, arguments: list[str]) -> None:
    """It was written over the program's files, or what it left is not all of them."""
    shutil.copy(another / "sources" / "settings.py", installed / "sources")

    done = run([sys.executable, "-S", "-m", "mcp_books", *arguments], cwd=another, said=LISTING, PYTHONPATH=os.pathsep.join(map(str, (installed, libraries))))

    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"mcp-books: cannot import name '\w+' from 'sources\.settings' \(.+\)\. "
                        r"Install it again, in an environment of its own\.\n", done.stderr)


def test_what_another_distribution_takes_away_with_it_is_said_in_a_line(installed: Path, libraries: Path, tmp_path: Path) -> None:
    """A file of the same name goes with the other; a package's own first file is not missed."""
    path = os.pathsep.join(map(str, (installed, libraries)))
    (installed / "sources" / "__init__.py").unlink()

    shown = run([sys.executable, "-S", "-m", "mcp_books", "demo"], cwd=tmp_path, PYTHONPATH=path)
    (installed / "sources" / "errors.py").unlink()
    broken = run([sys.executable, "-S", "-m", "mcp_books", "demo"], cwd=tmp_path, PYTHONPATH=path)

    assert (shown.returncode, shown.stderr) == (0, "")
    assert (broken.returncode, broken.stderr) == (
        1, "mcp-books: No module named 'sources.errors'. Install it again, in an environment of its own.\n")


def test_a_name_that_was_taken_before_the_start_is_said_in_a_line(installed: Path, libraries: Path, tmp_path: Path) -> None:
    """As a start file of the interpreter may do; the sentence names both places."""
    taken = "import sys, types; sys.modules['sources'] = types.ModuleType('sources'); sys.modules['sources'].__path__ = ['elsewhere']; "
    path = os.pathsep.join(map(str, (installed, libraries)))
    told = f"the modules of mcp-books stand in {installed.resolve()} under `sources`, a name taken by {Path(tmp_path, 'elsewhere').resolve()}"

    started = run([sys.executable, "-S", "-c", taken + "import mcp_books; sys.exit(mcp_books.main(['demo']))"], cwd=tmp_path, PYTHONPATH=path)
    imported = run([sys.executable, "-S", "-c", taken + "from mcp_books import BooksClient"], cwd=tmp_path, PYTHONPATH=path)

    assert (started.returncode, started.stdout, started.stderr) == (1, "", f"mcp-books: {told}. Install it again, in an environment of its own.\n")
    assert imported.stderr.splitlines()[-1] == f"ImportError: {told}"


# ---- what catalogues and hosts are told ----------------------------------------------------------------------------------

PAGE = "https://page.example/reader/mcp-books"


def test_a_manifest_is_refused_while_the_project_has_no_page(tmp_path: Path) -> None:
    """It would name somebody else's; the refusal says which constant to set."""
    done = run([sys.executable, ROOT / "tests" / "programs" / "manifest.py", "server.json"], cwd=tmp_path)

    assert PROJECT_URL == ""
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("This project has no page yet: set PROJECT_URL in sources/settings.py to the address of its own, then ask "
                           "again.\n")


def test_the_entry_for_a_registry_says_what_it_must(monkeypatch: pytest.MonkeyPatch) -> None:
    """The format's own limits: one slash in the name, a description of at most 100 characters, one exact version everywhere."""
    monkeypatch.setattr(manifest, "PROJECT_URL", PAGE)

    entry = manifest.server_json()

    [package] = entry["packages"]
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 0 < len(entry["description"]) <= 100
    assert entry["version"] == package["version"] == mcp_books.__version__
    assert (package["identifier"], package["transport"], entry["repository"]["url"]) == ("mcp-books", {"type": "stdio"}, PAGE)
    assert f'description = "{entry["description"]}"' in PYPROJECT


def test_the_manifest_of_a_bundle_says_what_it_must(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fields the format requires, the tools as they are offered, and a start from the bundle's own folders alone."""
    monkeypatch.setattr(manifest, "PROJECT_URL", PAGE)

    made = manifest.bundle_manifest()

    required: Mapping[str, Any] = {name: made[name] for name in ("manifest_version", "name", "version", "description")}
    assert required == {"manifest_version": "0.3", "name": "mcp-books", "version": mcp_books.__version__, "description": manifest.DESCRIPTION}
    assert made["author"]["name"] == "reader"
    assert (ROOT / made["server"]["entry_point"]).is_file()
    assert made["server"]["mcp_config"]["args"] == ["${__dirname}/" + made["server"]["entry_point"]]
    assert [tool["name"] for tool in made["tools"]] == list(TOOLS)
    assert set(re.findall(r"user_config\.(\w+)", json.dumps(made))) == set(made["user_config"])


def test_a_bundle_unpacked_starts(libraries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle, unpacked = tmp_path / "mcp-books.mcpb", tmp_path / "unpacked"
    monkeypatch.setattr(manifest, "PROJECT_URL", PAGE)

    made = manifest.main([str(bundle), str(libraries)])
    with zipfile.ZipFile(bundle) as opened:
        opened.extractall(unpacked)
    listed = run([sys.executable, "-S", unpacked / "mcp_books.py"], cwd=tmp_path, said=LISTING, PYTHONPATH=str(unpacked / "libraries"),
                 BOOKS_USER_AGENT="")

    assert made == 0
    assert shipped() <= {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*")}
    assert tools_listed(listed) == list(TOOLS)


@pytest.mark.parametrize("arguments", [[], ["setup.py"], ["server.json", "manifest.json", "x"], ["mcp-books.mcpb"]])
def test_the_command_that_makes_them_says_how_it_is_used(arguments: list[str], tmp_path: Path) -> None:
    done = run([sys.executable, ROOT / "tests" / "programs" / "manifest.py", *arguments], cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "python tests/programs/manifest.py server.json" in done.stderr


def test_a_bundle_without_its_libraries_is_not_begun(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sentence instead of a traceback, and no half of a file."""
    status = manifest.main([str(tmp_path / "mcp-books.mcpb"), str(tmp_path / "libraries")])

    assert status == 1
    assert "holds no unpacked libraries; fill it with pip install --target" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []

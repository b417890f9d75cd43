"""What catalogues of servers and hosts want to know of this one, made from the program itself.

    python tests/programs/manifest.py server.json                      the entry for a registry of servers
    python tests/programs/manifest.py manifest.json                    the manifest of a bundle
    python tests/programs/manifest.py mcp-books.mcpb libraries         a bundle: manifest, program, and the libraries unpacked in a folder

The first two are printed; > FILE keeps them. The third is written. A bundle runs on the systems its libraries are for, since lxml
is compiled.
Sources: the server.json format of 2025-12-11, and the MCPB manifest format 0.3.
"""
from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import mcp_books
from sources.asking.schemas import tool_schemas
from sources.settings import PROJECT_URL, Settings

DESCRIPTION = "One question to several great libraries at once: their texts and catalogues, read-only"
CONTACT = "Who runs this, with an address: sent to every archive with each request, as they ask."
NO_PAGE = "This project has no page yet: set PROJECT_URL in sources/settings.py to the address of its own, then ask again."
BUNDLED = ("mcp_books.py", "LICENSE", "sources/**/*.py", "sources/**/*.tsv", "sources/**/*.html", "sources/shelf/*", "sources/py.typed", "schemas/*.json", "schemas/*.py")


def owner() -> str:
    """Who the project's page names. Raises ValueError while there is none."""
    if not PROJECT_URL:
        raise ValueError(NO_PAGE)
    return urlsplit(PROJECT_URL).path.split("/")[1]


def server_json() -> dict[str, Any]:
    """The entry of a registry: where the package is, how it talks, what may be set."""
    def variable(name: str, description: str) -> dict[str, Any]:
        return {"name": name, "description": description, "isRequired": False, "isSecret": False, "format": "string"}

    package = {"registryType": "pypi", "identifier": mcp_books.NAME, "version": mcp_books.__version__, "runtimeHint": "uvx",
               "transport": {"type": "stdio"},
               "environmentVariables": [variable("BOOKS_USER_AGENT", CONTACT),
                                        variable("BOOKS_SOURCES", "Archives asked by default, comma-separated.")]}
    return {"$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json", "name": f"io.github.{owner()}/{mcp_books.NAME}", "title": "Books",
            "description": DESCRIPTION, "version": mcp_books.__version__, "repository": {"url": PROJECT_URL, "source": "github"},
            "packages": [package]}


def bundle_manifest() -> dict[str, Any]:
    """The manifest of a bundle, which a host reads to start the server and to ask its user who they are."""
    run = {"command": "python3", "args": ["${__dirname}/mcp_books.py"],
           "env": {"PYTHONPATH": "${__dirname}/libraries", "BOOKS_USER_AGENT": "${user_config.contact}"},
           "platform_overrides": {"win32": {"command": "python"}}}
    return {"manifest_version": "0.3", "name": mcp_books.NAME, "display_name": "Books", "version": mcp_books.__version__,
            "description": DESCRIPTION, "author": {"name": owner(), "url": PROJECT_URL}, "license": "MIT",
            "repository": {"type": "git", "url": PROJECT_URL},
            "server": {"type": "python", "entry_point": "mcp_books.py", "mcp_config": run},
            "tools": [{"name": name, "description": tool["description"]} for name, tool in tool_schemas(Settings()).items()],
            "prompts_generated": True,
            "user_config": {"contact": {"type": "string", "title": "Contact", "description": CONTACT, "required": False, "default": ""}},
            "compatibility": {"platforms": ["darwin", "linux", "win32"], "runtimes": {"python": ">=3.10"}}}


def write_bundle(path: Path, libraries: Path) -> None:
    """A bundle in `path`. Raises OSError when the libraries or the place to write to are not there."""
    if not (libraries / "requests").is_dir():
        raise FileNotFoundError(f"{libraries} holds no unpacked libraries; fill it with pip install --target")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("manifest.json", json.dumps(bundle_manifest(), indent=2))
        for pattern in BUNDLED:
            for file in sorted(ROOT.glob(pattern)):
                bundle.write(file, file.relative_to(ROOT))
        for file in sorted(libraries.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                bundle.write(file, Path("libraries") / file.relative_to(libraries))


def main(arguments: list[str]) -> int:
    try:
        return make(arguments)
    except ValueError as none:
        print(none, file=sys.stderr)
        return 1


def make(arguments: list[str]) -> int:
    made = {"server.json": server_json, "manifest.json": bundle_manifest}
    if len(arguments) == 1 and arguments[0] in made:
        print(json.dumps(made[arguments[0]](), indent=2))
    elif len(arguments) == 2 and arguments[0].endswith(".mcpb"):
        try:
            write_bundle(Path(arguments[0]), Path(arguments[1]))
        except OSError as error:
            print(f"{arguments[0]} was not written: {error}", file=sys.stderr)
            return 1
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

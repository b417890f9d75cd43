"""`mcp-books completion bash|zsh|fish`: what a shell needs to complete commands and flags, made
from the same parsers that read them."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TextIO

from ..asking.schemas import settings_in_force, tool_schemas
from .command_line import OWN_COMMANDS, parsers

_BASH = """\
_mcp_books() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words="{commands}"
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  [ "$COMP_CWORD" = 1 ] && words="{commands}"
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _mcp_books mcp-books
"""
_CASE = '    {name}) words="{flags}" ;;'
SHELLS = ("bash", "zsh", "fish")


def main(argv: Sequence[str], *, environ: Mapping[str, str], stdout: TextIO, stderr: TextIO) -> int:
    """Print the script of one shell; status 2 where none is named."""
    if len(argv) != 1 or argv[0] not in SHELLS:
        print(f"mcp-books completion {'|'.join(SHELLS)}: prints what that shell reads at its "
              "start.", file=stderr)
        return 2
    stdout.write(script(argv[0], flags_of_commands(environ)))
    return 0


def flags_of_commands(environ: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Each command with its flags, in their order."""
    schemas = tool_schemas(settings_in_force(environ, lambda line: None))
    made = parsers(schemas)
    return {name: tuple(dict.fromkeys(re.findall(r"--[a-z][a-z-]*", made[name].format_help())))
            for name in made if name and name not in OWN_COMMANDS} | dict.fromkeys(OWN_COMMANDS, ())


def script(shell: str, commands: Mapping[str, Sequence[str]]) -> str:
    if shell == "fish":
        lines = [f"complete -c mcp-books -n __fish_use_subcommand -a {name}" for name in commands]
        lines += [f"complete -c mcp-books -n '__fish_seen_subcommand_from {name}' -l {flag[2:]}"
                  for name, flags in commands.items() for flag in flags]
        return "\n".join(lines) + "\n"
    cases = "\n".join(_CASE.format(name=name, flags=" ".join(flags))
                      for name, flags in commands.items())
    bash = _BASH.format(commands=" ".join(commands), cases=cases)
    return "autoload -U +X bashcompinit && bashcompinit\n" + bash if shell == "zsh" else bash

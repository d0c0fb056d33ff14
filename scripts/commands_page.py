"""In: the commands as they are installed. Out: docs/commands.md, which describes every command and option; run it after a change."""

from __future__ import annotations

from pathlib import Path

import click

from memoryfs.cli import cli

PAGE = Path(__file__).resolve().parents[1] / "docs" / "commands.md"
HEAD = """# Commands

Every command also takes `--store DIR` (work on that store), `--profile NAME` (on `~/.memory/profiles/NAME`), `--json` (JSON on
stdout, nothing else) and `--quiet`; they may stand before or after the command's name. Without them a command works on the
nearest `.memory/` above the working directory, else on `~/.memory`.

Exit codes: 0 done, 1 failed, 2 usage, 3 locked by another run, 4 done and something needs review, 5 nothing found, 6 store damaged,
7 done in part.

<!-- made by scripts/commands_page.py from the commands themselves -->
"""


def page() -> str:
    """The page's text."""
    ctx = click.Context(cli, info_name="memoryfs")
    parts = [HEAD]
    for name in cli.list_commands(ctx):
        command = cli.get_command(ctx, name)
        if command is not None:
            parts.append(_section(ctx, name, command))
    return "\n".join(parts)


def _section(ctx: click.Context, name: str, command: click.Command) -> str:
    own = click.Context(command, info_name=name, parent=ctx)
    words = [_word(param) for param in command.params if isinstance(param, click.Argument)]
    if isinstance(command, click.Group):
        words.append("COMMAND ...")
    rows = [f"## memoryfs {name}", "", f"`{' '.join(['memoryfs', name, '[options]', *words])}`", ""]
    rows += [" ".join((command.help or command.short_help or "").split()), "", *_options(command)]
    if isinstance(command, click.Group):
        for sub in command.list_commands(own):
            found = command.get_command(own, sub)
            if found is not None:
                rows.append(f"- `{name} {sub}`: {' '.join((found.help or '').split())}")
                rows += [f"  {row}" for row in _options(found)]
    return "\n".join(rows).rstrip() + "\n"


def _word(param: click.Argument) -> str:
    word = (param.metavar or str(param.name).upper()).strip("[]") if "|" not in (param.metavar or "") else str(param.metavar)
    word += "..." if param.nargs == -1 and not word.endswith("...") else ""
    return word if param.required or word.startswith("[") else f"[{word}]"


def _options(command: click.Command) -> list[str]:
    """A line for each option of the command's own. Not taken from --help, whose wording changes with click's version."""
    rows = []
    for param in command.params:
        if not isinstance(param, click.Option) or str(param.name).startswith("global_") or param.hidden:
            continue
        choices = getattr(param.type, "choices", None)
        kind = "|".join(map(str, choices)) if choices else param.type.name.upper().removesuffix(" RANGE")
        value = "" if param.is_flag or param.count else f" {param.metavar or kind}"
        names = ", ".join(sorted(param.opts, key=len)) + "".join(f" / {opt}" for opt in param.secondary_opts)
        text = " ".join((param.help or "").split())
        if param.show_default and "default" not in text and not param.is_flag:
            text = f"{text} [default: {param.default}]".strip()
        rows.append(f"- `{names}{value}`" + (f": {text}" if text else ""))
    return rows


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

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
    usage = " ".join(command.collect_usage_pieces(own)).replace("[OPTIONS]", "[options]")
    help_text = " ".join((command.help or command.short_help or "").split())
    rows = [f"## memoryfs {name}", "", f"`memoryfs {name} {usage}`".replace(" `", "`"), "", help_text, ""]
    for param in command.params:
        record = param.get_help_record(own)
        if record and isinstance(param, click.Option) and not str(param.name).startswith("global_") and "--help" not in param.opts:
            text = " ".join(record[1].split())
            rows.append(f"- `{record[0]}`" + (f": {text}" if text else ""))
    if isinstance(command, click.Group):
        for sub in command.list_commands(own):
            found = command.get_command(own, sub)
            rows.append(f"- `{name} {sub}`: {found.get_short_help_str(limit=200) if found else ''}")
    return "\n".join(rows).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""In: the command line. Out: one command run, its result on stdout, all else on stderr, and an exit code of DESIGN §7.

Commands are imported when they are called, so that `memoryfs brief` stays about as quick as `import click`.
Other packages add commands through the entry-point group `memoryfs.commands`.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import Any

import click

from memoryfs import __version__
from memoryfs.cli.context import Settings, add_global_options, report_error
from memoryfs.errors import MemoryfsError

# command -> (module, one line of help). The help stands here so that `--help` imports no command.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("memoryfs.cli.init", "Create a store."),
    "import": ("memoryfs.cli.import_", "Copy transcripts or memory folders into the store."),
    "brief": ("memoryfs.cli.brief", "Print the briefing that a session starts with."),
    "recall": ("memoryfs.cli.recall", "Find memories and the exact source text that answers a question."),
    "read": ("memoryfs.cli.read", "Print a topic, a section, a memory or a range of a thread."),
    "remember": ("memoryfs.cli.write", "Write one memory into a topic file."),
    "forget": ("memoryfs.cli.write", "Withdraw a memory; --purge also removes its text."),
    "move": ("memoryfs.cli.write", "Move a memory to another topic."),
    "list": ("memoryfs.cli.list_", "List topics and memories."),
    "dedupe": ("memoryfs.cli.list_", "Say whether a statement is already remembered."),
    "review": ("memoryfs.cli.review", "Settle what waits for a person, one by one; take a choice back; judge a memory."),
    "audit": ("memoryfs.cli.audit", "Show what is believed about something, on what grounds, and why it was not recalled."),
    "index": ("memoryfs.cli.index", "Synchronise, rebuild or watch the search index."),
    "doctor": ("memoryfs.cli.doctor", "Check the store and say how to mend what is wrong."),
    "export": ("memoryfs.cli.export", "Write the store's memories in another tool's layout."),
    "eval": ("memoryfs.cli.eval_", "Measure recall on golden questions."),
    "hook": ("memoryfs.cli.hook", "Answer an event of an agent harness (used by its hooks)."),
    "setup": ("memoryfs.cli.setup", "Connect a harness (claude-code, codex, cursor, …) to the store; --remove undoes it."),
    "mcp": ("memoryfs.cli.mcp", "Serve the store to an agent over stdio (MCP)."),
    "web": ("memoryfs.cli.web", "See and correct the memory in a browser, on this machine only."),
    "models": ("memoryfs.cli.models", "List, fetch or check the local models."),
}
ENTRY_POINTS = "memoryfs.commands"


class LazyGroup(click.Group):
    """A group whose commands are imported when first used, from COMMANDS and then from entry points."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*COMMANDS, *(e.name for e in _entry_points())})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            from importlib import import_module

            module = import_module(COMMANDS[cmd_name][0])
            command = getattr(module, cmd_name + "_command")
        else:
            command = next((e.load() for e in _entry_points() if e.name == cmd_name), None)
        if command is not None:
            add_global_options(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, line) for name, (_, line) in COMMANDS.items()]
        rows += [(e.name, e.load().get_short_help_str(limit=70)) for e in _entry_points() if e.name not in COMMANDS]
        with formatter.section("Commands"):
            formatter.write_dl(sorted(rows))


def _entry_points() -> list[Any]:
    from importlib.metadata import entry_points

    return sorted(entry_points(group=ENTRY_POINTS), key=lambda e: e.name)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, package_name="memoryfs", message="memoryfs %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Markdown-first memory for AI agents: readable files, exact recall, a disposable index."""
    if ctx.obj is None:
        ctx.obj = Settings()


add_global_options(cli)


def _unwritten(error: OSError) -> int:
    """The exit code when stdout takes no more: 0 if its reader has what it wanted (`| head`), 1 and a line if not."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python complains at shutdown
    if error.errno == errno.EPIPE:
        return 0
    said = f"{error.filename or 'the output'}: {error.strerror}" if error.strerror else str(error)
    click.echo(f"memoryfs: {said}", err=True)
    return 1


def main(argv: list[str] | None = None) -> None:
    """The console script; always ends in SystemExit."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    settings, stdout = Settings(), sys.stdout
    try:
        code = cli.main(args=argv, prog_name="memoryfs", obj=settings, standalone_mode=False)
        if sys.stdout is not None:  # started with it closed
            sys.stdout.flush()
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.Abort:
        code = 130
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except MemoryfsError as error:
        report_error(error, settings)
        code = error.exit_code
    except KeyboardInterrupt:
        click.echo("memoryfs: interrupted; files are whole", err=True)
        code = 130
    except SystemExit as error:
        # When the reader of a pipe is gone, click puts a wrapper around stdout and ends with 1.
        code = error.code if sys.stdout is stdout else _unwritten(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    except OSError as error:
        code = _unwritten(error)
    raise SystemExit(code if isinstance(code, int) else 0)

"""The commands and their options. What a command does is in a module of its own, loaded when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from voiceharness.cli.devices import devices

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["app"]

_EXIT_CODES = (
    "Exit codes: 0 passed; 1 an expectation failed; 2 usage or scenario error; 3 call not set up, or its transport "
    "failed; 4 not supported here; 5 harness fault, or a run that is not trustworthy; 6 the agent violated the "
    "protocol; 130 interrupted."
)

_EXISTING = click.Path(exists=True, path_type=Path)
_FILE = click.Path(dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)

_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
_OUT = click.option(
    "--out",
    type=_FOLDER,
    default=Path("voiceharness-out"),
    show_default=True,
    help="Where each call's recording, timeline and result go.",
)
_JUNIT = click.option("--junit", type=_FILE, help="Also write JUnit XML to this file.")
_PAGES = click.option(
    "--pages",
    type=click.Choice(["all", "failed", "none"]),
    default="failed",
    show_default=True,
    help="Of which calls to write a page to see and hear them.",
)


def _only_one(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> str | None:
    """Refuse a second value, which would take the place of the first without a word."""
    if len(values) > 1:
        raise click.BadParameter(f"give one, not {' and '.join(values)}; a suite file can name several")
    return values[0] if values else None


def _single(name: str, metavar: str, about: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # Any: as click
    """Make an option that is given once at the most."""
    return click.option(name, metavar=metavar, multiple=True, callback=_only_one, help=about)


_ADAPTER = _single("--adapter", "NAME", "Reach the agent over this adapter; see `adapters`.")
_AGENT = _single("--agent", "MODULE:NAME", "Serve this agent on the adapter's transport.")
_SELECTION = (
    click.option("--tag", "tags", metavar="TAG", multiple=True, help="Take scenarios with this tag, or another given."),
    click.option("--without-tag", "without_tags", metavar="TAG", multiple=True, help="Leave out those with this tag."),
    click.option("--name", "names", metavar="PATTERN", multiple=True, help="Take those of this name; * is anything."),
)
_SET = click.option(
    "--set", "settings", metavar="KEY=VALUE", multiple=True, help="An option of the adapter; see `adapters show NAME`."
)


@click.group(epilog=_EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="voiceharness", message="%(package)s %(version)s")
def app() -> None:
    """Test phone voice agents with real audio: verdicts from what was heard."""


def _selecting(command: Callable[..., Any]) -> Callable[..., Any]:  # Any: as click has it
    for option in reversed(_SELECTION):
        command = option(command)
    return command


@app.command()
@click.argument("paths", type=_EXISTING, nargs=-1, required=True)
@_selecting
@_ADAPTER
@_AGENT
@_SET
@click.option("--virtual/--real", default=None, help="Virtual or real time. Default: virtual where the adapter can.")
@click.option("--seed", type=click.IntRange(min=0), help="Replace the seed of every scenario.")
@click.option("--repeat", type=click.IntRange(min=1), default=1, help="Make every call this many times.")
@click.option(
    "--failed",
    metavar="[FOLDER]",
    is_flag=False,
    flag_value="",
    help="Make only those calls of a suite file that did not pass in the run of FOLDER (default: --out).",
)
@click.option("--list", "list_only", is_flag=True, help="Only tell which calls would be made.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, help="Make this many calls at a time.")
@click.option("--fresh", is_flag=True, help="Make each call in a process of its own.")
@click.option("--engine", metavar="URL", help="Make the calls on the workers of dask://HOST:PORT (extra dask).")
@_OUT
@_PAGES
@_JUNIT
@click.option("--allow-untrusted", is_flag=True, help="Judge a call although the harness was late, instead of code 5.")
@_JSON
def run(**options: Any) -> int:  # Any: one for each option above
    """Run the scenarios of YAML files, or of folders of them; or a suite file."""
    from voiceharness.cli.running import run_files

    return run_files(**options)


@app.command()
@click.argument("paths", type=_EXISTING, nargs=-1, required=True)
@_ADAPTER
@_AGENT
@_SET
@_JSON
def validate(**options: Any) -> int:  # Any: one for each option above
    """Check scenario files and suite files without calling."""
    from voiceharness.cli.validating import validate_files

    return validate_files(**options)


@app.command()
@click.option("--over", metavar="ADAPTER", default="in_process", show_default=True, help="The transport of the calls.")
@_OUT
@_JUNIT
@_JSON
def demo(**options: Any) -> int:  # Any: one for each option above
    """Call a talking appointment line, with faults and without."""
    from voiceharness.cli.demonstration import run_demo_suite

    return run_demo_suite(**options)


@app.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--width", type=click.IntRange(min=40), help="Columns to use. Default: those of the terminal.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw without block characters.")
@click.option("--events/--no-events", default=True, help="List turns and events below the picture.")
@_JSON
def show(**options: Any) -> int:  # Any: one for each option above
    """Show a saved call: both tracks on one time line."""
    from voiceharness.cli.showing import show_folder

    return show_folder(**options)


@app.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--transcriber", metavar="NAME", help="Ask this engine first what agents said that sent no words; see `doctor`."
)
@_JSON
def report(**options: Any) -> int:  # Any: one for each option above
    """Write the pages of a saved run, or of one call, to see and hear it."""
    from voiceharness.cli.reporting import write_pages

    return write_pages(**options)


@app.command()
@click.argument("base", type=_EXISTING)
@click.argument("new", type=_EXISTING)
@click.option(
    "--tolerance",
    "tolerances",
    metavar="FAMILY=AMOUNT",
    multiple=True,
    help="What is still the same: response_latency=80ms, stop_latency=20%.",
)
@click.option("--everything", is_flag=True, help="Tell of figures that did not change, too.")
@_JSON
def compare(**options: Any) -> int:  # Any: one for each option above
    """Compare a run with an earlier one; code 1: something is worse, 2: something cannot be compared."""
    from voiceharness.cli.comparing import compare_folders

    return compare_folders(**options)


@app.command()
@click.argument("text")
@click.option("-o", "--output", type=_FILE, required=True, help="The WAV file to write.")
@click.option("--engine", metavar="NAME", help="The synthesizer; see `doctor`.")
@click.option("--voice", metavar="NAME", help="A voice of the engine.")
@click.option("--speed", type=float, default=1.0, show_default=True, help="How fast, as a factor.")
@click.option(
    "--rate",
    type=click.IntRange(8000, 48000),
    default=8000,
    show_default=True,
    help="Samples per second, 8000 to 48000.",
)
@_JSON
def synth(**options: Any) -> int:  # Any: one for each option above
    """Speak TEXT into a WAV file."""
    from voiceharness.cli.synthesizing import synthesize_file

    return synthesize_file(**options)


@app.command()
@click.option("--adapter", "adapters", metavar="NAME", multiple=True, help="Probe this adapter. Default: all.")
@click.option("--agent", metavar="MODULE:NAME", help="Serve this agent, not the probe agent.")
@click.option("--unserved", is_flag=True, help="Serve no agent: the adapter's options lead to one of yours.")
@_SET
@click.option("--only", metavar="ADAPTER:CAPABILITY", multiple=True, help="Probe one cell anew, and keep the others.")
@click.option("--virtual/--real", default=None, help="Virtual or real time. Default: virtual where the adapter can.")
@click.option(
    "--out",
    type=_FOLDER,
    default=Path("voiceharness-matrix"),
    show_default=True,
    help="Where matrix.json, .md and .html and the evidence of every call go.",
)
@click.option("--diff", type=_EXISTING, help="Also tell what has changed since this matrix.json.")
@_JSON
def matrix(**options: Any) -> int:  # Any: one for each option above
    """Hold what adapters declare against what calls show; code 1: a declaration is false."""
    from voiceharness.cli.matrix import probe_adapters

    return probe_adapters(**options)


@app.command()
@click.argument("transport")
@click.argument("url")
@click.option(
    "--token", envvar="TWILIO_AUTH_TOKEN", show_envvar=True, help="What the carrier's requests are signed with."
)
@click.option("--patience", type=click.FloatRange(min=0.05), default=1.0, show_default=True, help="Seconds per attack.")
@_JSON
def audit(**options: Any) -> int:  # Any: one for each option above
    """Attack the agent at URL (twilio: its webhook or stream) and tell what it refuses; code 1: not all it should."""
    from voiceharness.cli.audit import audit_agent

    return audit_agent(**options)


@app.command()
@_JSON
def doctor(**options: Any) -> int:  # Any: one for each option above
    """Tell what is installed and missing, and how to get it."""
    from voiceharness.cli.diagnosis import diagnose

    return diagnose(**options)


@app.group(invoke_without_command=True)
@_JSON
@click.pass_context
def adapters(context: click.Context, as_json: bool) -> int:
    """List the adapters that are installed."""
    from voiceharness.cli.adapters import list_adapters

    return list_adapters(as_json=as_json) if context.invoked_subcommand is None else 0


@adapters.command("show")
@click.argument("name")
@_JSON
def show_adapter(**options: Any) -> int:  # Any: one for each option above
    """Show the options and capabilities of one adapter."""
    from voiceharness.cli.adapters import describe_adapter

    return describe_adapter(**options)


@adapters.command("check")
@click.argument("name")
@_SET
@click.option(
    "--calls", type=click.IntRange(min=1), default=20, show_default=True, help="Calls that may leave nothing."
)
@click.option("--patience", type=float, default=5.0, show_default=True, help="Seconds that a step may take at most.")
@click.option("--virtual/--real", default=None, help="Virtual or real time. Default: virtual where the adapter can.")
@_JSON
def check_adapter(**options: Any) -> int:  # Any: one for each option above
    """Check an adapter against the rules of the contract; code 1: it breaks one.

    It calls agents that it serves itself, so options that say whom to call are refused.
    """
    from voiceharness.cli.checking import check_installed

    return check_installed(**options)


app.add_command(devices)

"""The curator's commands: describe, check, preview, release, verify.

What they need is imported when one of them runs: the other commands work without it.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.publishing_guard import guarded
from discreet.cli.publishing_preview import preview
from discreet.cli.publishing_release import release
from discreet.cli.publishing_verify import verify

__all__ = ["add_to"]

FILE = "The file, by default release.yaml here."


def add_to(app: typer.Typer) -> None:
    """Give an app the commands."""
    app.command(epilog="Example: discreet describe visits.parquet > release.yaml")(describe)
    app.command(epilog="Example: discreet check release.yaml; discreet check --schema > release.schema.json")(check)
    app.command(epilog="Example: discreet preview release.yaml --html preview.html")(preview)
    app.command(epilog="Example: discreet release release.yaml -o out/")(release)
    app.command(epilog="Example: discreet verify out/release.json")(verify)


def describe(
    source: Annotated[str, typer.Argument(help="A Parquet, CSV or JSON file, or postgresql://host/base#schema.table.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the columns as JSON instead.")] = False,
) -> None:
    """Write a release.yaml to fill in, from the names and types of columns alone; no value is read.

    Of a CSV file the first line is taken as the names of the columns.

    Who is protected and between which bounds numbers lie is yours to say: the file explains every field.
    """
    with guarded(as_json):
        from discreet.publishing.describe import described

        found = described(source)
        if as_json:
            typer.echo(json.dumps({"name": found.name, "source": source, "columns": found.shape.columns}, indent=2))
        else:
            typer.echo(found.text, nl=False)


def check(
    file: Annotated[Path, typer.Argument(help=FILE)] = Path("release.yaml"),
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the file instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of sentences.")] = False,
) -> None:
    """Say what is wrong with a file, one sentence for each mistake, with its line and what to write.

    The table is opened for its names and types; no row is read. Ends with exit code 2 if there are mistakes.
    """
    with guarded(as_json):
        if schema:
            from discreet.publishing.schema import schema_text

            typer.echo(schema_text(), nl=False)
            return
        from discreet.publishing.foresight import probed
        from discreet.publishing.reading import read_release

        source = read_release(file)
        with probed(source):
            pass
        if as_json:
            typer.echo(json.dumps({"file": str(file), "ok": True, "mistakes": []}, indent=2))
        else:
            count = len(source.file.releases)
            typer.echo(f"{file} is in order: {count} release{'s' * (count > 1)} of {source.file.dataset.name}.")
            typer.echo(f"How accurate it will be and what it costs: discreet preview {file}")

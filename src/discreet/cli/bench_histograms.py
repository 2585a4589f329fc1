"""``discreet bench histograms``: which algorithm estimates a histogram best."""

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.bench import bench
from discreet.cli.findings import progress, refusing
from discreet.units import check_relation

__all__ = ["ALGORITHMS", "WORKLOADS"]

WORKLOADS = "ranges, all ranges, prefixes, marginals, cells"
ALGORITHMS = (
    "identity, uniform, privelet, hb, greedy h, dawa, ahp, mwem, mwem 10, shrunk tree, quad tree, "
    "uniform grid, adaptive grid"
)
"""The names that the help tells: the room that knows them is heavy, and is loaded when it is used."""


@bench.command(epilog="Example: discreet bench histograms --data 2d --scale 1e4,1e6 --epsilon 0.1 --output comparison")
def histograms(
    data: Annotated[
        str,
        typer.Option(
            help="Shapes with commas between: 1d or 2d (all generated ones), one of their names, dpbench (the arrays "
            "in $DISCREET_DATA/dpbench), or a folder or file of .npy arrays."
        ),
    ] = "1d",
    workload: Annotated[str, typer.Option(help=f"What is asked: {WORKLOADS}.")] = "ranges",
    epsilon: Annotated[str, typer.Option(help="One epsilon or several, with commas between.")] = "0.1",
    scale: Annotated[
        str, typer.Option(help="How many persons: one number or several, such as 1e3,1e5; or own, as in an array.")
    ] = "1e3,1e5,1e7",
    domain: Annotated[
        str | None,
        typer.Option(help="How many cells: 4096, 64x64, or 4096,64x64. Shapes are summed to it; others are left out."),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, max=10_000, help="Releases in each setting.")] = 3,
    names: Annotated[
        str | None,
        typer.Option("--algorithms", help=f"With commas between, of: {ALGORITHMS}. [default: all]"),
    ] = None,
    relation: Annotated[str, typer.Option(help="The neighbours: add_remove or replace_one.")] = "add_remove",
    percentile: Annotated[
        bool, typer.Option("--percentile", help="Show the 95th percentile of the errors instead of their mean.")
    ] = False,
    deadline: Annotated[
        float | None, typer.Option(min=0.001, help="Stop after so many seconds and tell what was measured.")
    ] = None,
    checks: Annotated[
        bool,
        typer.Option("--checks", help="Also check scale-epsilon exchangeability and consistency of each algorithm."),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the page, the pictures and JSON to this folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Which algorithm estimates a histogram best: errors by shape, scale and epsilon, as DPBench measures them.

    The error is the L2 distance of all answers, divided by the persons and the queries. Data are public here: never
    name a file about people.
    """
    from discreet.bench import algorithms, run
    from discreet.cli.bench_asked import number, sources_of, split, whole_number
    from discreet.cli.bench_telling import principles_of, show, tables_of, writable_folder, write

    with refusing():
        kind = check_relation(relation)
        chosen = algorithms(None if names is None else split(names))
        sources = sources_of(data, domain)
        writable_folder(output)
        with progress() as tick:
            found = run(
                chosen,
                sources,
                scales=[None if word == "own" else whole_number(word, "a scale") for word in split(scale)],
                epsilons=[number(word, "epsilon") for word in split(epsilon)],
                questions=workload.replace("-", " ").replace("_", " "),
                trials=trials,
                relation=kind,
                progress=tick,
                deadline=deadline,
            )
            principles = principles_of(found, kind, tick) if checks else ()
        tables = [*tables_of(found, percentile=percentile), *principles]
        record = json.loads(found.to_json())
        if output is not None:
            options = {"--data": data, "--workload": workload, "--epsilon": epsilon, "--scale": scale}
            options |= {"--trials": str(trials), "--relation": relation}
            options |= {"--domain": domain} if domain else {}
            options |= {"--algorithms": names} if names else {}
            words = [word for option in options.items() for word in option] + (["--checks"] if checks else [])
            words += ["--percentile"] if percentile else []
            command = shlex.join(["discreet", "bench", "histograms", *words, "--output", str(output)])
            record["files"] = write(output, found, tables, command)
        if as_json:
            record |= {
                "checks": [{"title": table.title, "rows": [list(row) for row in table.rows]} for table in principles]
            }
            typer.echo(json.dumps(record, indent=1))
            return
        show(found, tables, record.get("files", []))

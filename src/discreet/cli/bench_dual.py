"""``discreet bench dualquery``: synthetic records from a game, against noise on each answer."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.bench import bench
from discreet.cli.findings import progress, refusing
from discreet.errors import InvalidParameter

if TYPE_CHECKING:
    from discreet.bench.dual_query import Experiment

__all__ = ["dualquery"]

EXPERIMENTS = ("epsilon", "queries", "attributes")


@bench.command(epilog="Example: discreet bench dualquery --experiment epsilon --data adult --output comparison")
def dualquery(
    experiment: Annotated[
        str,
        typer.Option(help="What is varied, with commas between: epsilon, queries or attributes."),
    ] = "epsilon",
    data: Annotated[str, typer.Option(help="adult or kdd99; for attributes random biased bits are made.")] = "adult",
    folder: Annotated[
        Path | None,
        typer.Option(help="Where adult.clean and kdd99.clean.bz2 are. [default: $DISCREET_DATA/dualquery, or made up]"),
    ] = None,
    epsilon: Annotated[str, typer.Option(help="Epsilons, with commas between; others take the first.")] = "1,2,3,4,5",
    delta: Annotated[float, typer.Option(help="The delta of every release.")] = 1e-3,
    queries: Annotated[
        str | None, typer.Option(help="How many three-way marginals. [default: 500000; 1e4 to 2e6; 100000]")
    ] = None,
    attributes: Annotated[str, typer.Option(help="How many attributes, with commas between.")] = "50,500,4000,32000",
    records: Annotated[int, typer.Option(min=1, max=10**8, help="How many records random bits have.")] = 100_000,
    repeats: Annotated[int, typer.Option(min=1, max=1000, help="Releases in each setting.")] = 5,
    deadline: Annotated[
        float | None, typer.Option(min=0.001, help="Stop after so many seconds and tell what was measured.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the page, the pictures and JSON to this folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """The largest error of many marginals by DualQuery, by noise on each, and by taking attributes as independent.

    The experiments of its paper, all at the same epsilon and delta under replace_one. Data are public here: never name
    a file about people.
    """
    from discreet.bench.dual_query import against_attributes, against_epsilon, against_queries, table_named
    from discreet.cli.bench_asked import number, split, whole_number
    from discreet.cli.bench_dual_telling import show, write
    from discreet.cli.bench_telling import writable_folder

    with refusing():
        kinds = split(experiment)
        if not kinds or not set(kinds) <= set(EXPERIMENTS):
            raise InvalidParameter(f"--experiment names {', '.join(EXPERIMENTS)}, got {experiment!r}.")
        epsilons = [number(word, "epsilon") for word in split(epsilon)]
        counts = [whole_number(word, "a number of queries") for word in split(queries or "")]
        sides = [whole_number(word, "a number of attributes") for word in split(attributes)]
        if not epsilons or not sides:
            raise InvalidParameter("name at least one epsilon and one number of attributes.")
        writable_folder(output)
        found: list[Experiment] = []
        with progress() as tick:
            known = table_named(data, folder) if set(kinds) & {"epsilon", "queries"} else None
            for kind in dict.fromkeys(kinds):
                if known is None or kind == "attributes":
                    found.append(
                        against_attributes(
                            attributes=sides,
                            records=records,
                            queries=counts[0] if counts else 100_000,
                            epsilon=epsilons[0],
                            delta=delta,
                            repeats=repeats,
                            progress=tick,
                            deadline=deadline,
                        )
                    )
                elif kind == "epsilon":
                    found.append(
                        against_epsilon(
                            known,
                            epsilons=epsilons,
                            delta=delta,
                            queries=counts[0] if counts else 500_000,
                            repeats=repeats,
                            progress=tick,
                            deadline=deadline,
                        )
                    )
                else:
                    found.append(
                        against_queries(
                            known,
                            counts=counts or (10_000, 100_000, 500_000, 1_000_000, 2_000_000),
                            epsilon=epsilons[0],
                            delta=delta,
                            repeats=repeats,
                            progress=tick,
                            deadline=deadline,
                        )
                    )
        files: list[str] = []
        if output is not None:
            options = {"--experiment": experiment, "--data": data, "--epsilon": epsilon, "--delta": f"{delta:g}"}
            options |= {"--attributes": attributes, "--records": str(records), "--repeats": str(repeats)}
            options |= {"--queries": queries} if queries else {}
            words = [word for option in options.items() for word in option]
            command = shlex.join(["discreet", "bench", "dualquery", *words, "--output", str(output)])
            files = write(output, found, command)
        if as_json:
            record = {"experiments": [json.loads(one.to_json()) for one in found], "files": files}
            typer.echo(json.dumps(record, indent=1))
            return
        show(found, files)

"""``discreet attack``: linkage and de-anonymisation."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet import plots
from discreet.auditing.attacks.anonymity_failures import break_anonymity
from discreet.auditing.attacks.graphs import reidentify_graph
from discreet.auditing.attacks.quasi_identifiers import QuasiIdentifiers, quasi_identifiers
from discreet.auditing.attacks.ratings import deanonymise_ratings
from discreet.auditing.attacks.stories import link_stories
from discreet.auditing.attacks.traces import uniqueness_of_traces
from discreet.cli.attack import attack
from discreet.cli.findings import answer, plain, progress, refusing, waiting, writable
from discreet.datasets import census, networks, ratings, stays, stories, traces
from discreet.report import Figure
from discreet.report.finding import Fact, Finding, Rows

__all__: list[str] = []

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Page = Annotated[Path | None, typer.Option("--plot", help="Write one HTML page with the picture to this file.")]
Epsilon = Annotated[
    float, typer.Option(min=1e-6, max=100, help="The epsilon of the protected release that stands beside the attack.")
]


@attack.command(epilog="Example: discreet attack linkage people.csv --sensitive diagnosis --plot page.html")
def linkage(
    file: Annotated[
        Path | None, typer.Argument(help="Your CSV file, read on this machine alone; without one, an invented census.")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(help="Columns somebody may know, with commas between; by default all but the sensitive one."),
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="The column that nobody should learn: measures l and t.")
    ] = None,
    largest: Annotated[int, typer.Option(min=1, max=4, help="How many columns a combination may have.")] = 3,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header", help="Whether the first line names the columns; by default it is guessed."
        ),
    ] = None,
    epsilon: Epsilon = 1.0,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Which columns of a file make its people findable: unique rows, k-anonymity, l-diversity, t-closeness.

    Nothing leaves this machine, and no value of a cell is ever shown.
    """
    with refusing():
        writable(plot)
        chosen = None if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
        hidden = "condition" if file is None and sensitive is None else sensitive
        with progress() as show:
            found = quasi_identifiers(
                census() if file is None else file,
                chosen,
                hidden,
                largest=largest,
                epsilon=epsilon,
                header=header,
                progress=show,
            )
        command = ["discreet", "attack", "linkage", *([str(file)] if file else [])]
        command += [*(["--columns", columns] if columns else []), *(["--sensitive", sensitive] if sensitive else [])]
        command += ["--largest", str(largest)] if largest != 3 else []
        name = "an invented census" if file is None else file.name
        answer(
            lambda: _linkage(found, name, drawn=plot is not None),
            plain(found),
            as_json=as_json,
            plot=plot,
            command=_command(command, plot),
        )


def _linkage(found: QuasiIdentifiers, name: str, *, drawn: bool) -> Finding:
    rows = [
        [" + ".join(one.columns), f"{one.unique:,}", f"{100 * one.share:.1f}"]
        for one in sorted(found.leading(), key=lambda c: -c.unique)
    ]
    weights = [[column, f"{100 * weight:.1f}"] for column, weight in found.weights.items()]
    measured = found.anonymity
    facts = [
        Fact(name="Rows", value=f"{found.rows:,}", words=name),
        Fact(name="k", value=str(measured.k), words="rows that are alike on all columns, at least"),
        Fact(name="Alone in their class", value=f"{measured.unique:,}", words="rows that no other row is like"),
    ]
    tables = [
        Rows(title="Most telling combinations", head=["Columns", "Unique rows", "Percent"], rows=rows),
        Rows(title="What a column adds on average", head=["Column", "Percent points it adds"], rows=weights),
    ]
    left_out = (
        [f"Not combined, for having fewer different values: {', '.join(found.left_out)}."] if found.left_out else []
    )
    return Finding(
        title=f"How findable the rows of {name} are",
        verdict=found.verdict,
        facts=facts,
        figures=_figures(found, "Each bar is a count of your rows, without error.") if drawn and rows else (),
        tables=[table for table in tables if table.rows],
        protection=str(found.protection),
        advice=found.advice,
        remarks=[*found.notes, *left_out, "A row that is unique here may have a double among people not in the file."],
        source="Sweeney, Simple Demographics Often Identify People Uniquely, 2000.",
    )


@attack.command("ratings", epilog="Example: discreet attack ratings --people 50000 --plot ratings.html")
def ratings_(
    people: Annotated[int, typer.Option(min=100, max=1_000_000, help="How many people rate.")] = 50_000,
    titles: Annotated[int, typer.Option(min=100, max=100_000, help="How many titles there are.")] = 5_000,
    epsilon: Epsilon = 1.0,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Find people in a table of film ratings without names, from a few ratings (Narayanan and Shmatikov 2008)."""
    with refusing():
        writable(plot)
        with waiting("looking for 200 people"):
            found = deanonymise_ratings(ratings(people, titles), epsilon=epsilon)
        rows = [[name, *[f"{100 * rate:.1f}" for rate in rates]] for name, rates in found.found.items()]
        table = Rows(title="People found, percent", head=["Known ratings", *map(str, found.known)], rows=rows)
        command = ["discreet", "attack", "ratings", "--people", str(people), "--titles", str(titles)]
        source = "Narayanan and Shmatikov, Robust De-anonymization of Large Sparse Datasets, 2008."
        _answer(found, "A few ratings find the person", table, source, plot=plot, as_json=as_json, command=command)


@attack.command("traces", epilog="Example: discreet attack traces --plot traces.html")
def traces_(
    people: Annotated[int, typer.Option(min=100, max=1_000_000, help="How many phones there are.")] = 20_000,
    epsilon: Epsilon = 1.0,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Count whom a few points of place and hour single out, at several resolutions (de Montjoye et al. 2013)."""
    with refusing():
        writable(plot)
        with waiting("comparing traces"):
            found = uniqueness_of_traces(traces(people), epsilon=epsilon)
        rows = [[str(name), *[f"{100 * share:.1f}" for share in shares]] for name, shares in found.unique.items()]
        table = Rows(title="People singled out, percent", head=["Known points", *map(str, found.points)], rows=rows)
        command = ["discreet", "attack", "traces", "--people", str(people)]
        source = "De Montjoye, Hidalgo, Verleysen and Blondel, Unique in the Crowd, 2013."
        _answer(found, "A few points single a person out", table, source, plot=plot, as_json=as_json, command=command)


@attack.command(epilog="Example: discreet attack graph --plot graph.html")
def graph(
    people: Annotated[int, typer.Option(min=200, max=20_000, help="How many people the two networks have.")] = 3_000,
    epsilon: Epsilon = 1.0,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Name the people of a network without names, from another one and a few seeds (Narayanan and Shmatikov 2009)."""
    with refusing():
        writable(plot)
        with waiting("spreading names"):
            found = reidentify_graph(networks(people), epsilon=epsilon)
        rows = [
            [name, *[f"{100 * share:.1f}" for share in shares]]
            for name, shares in (("rightly", found.right), ("wrongly", found.wrong))
        ]
        table = Rows(title="People named, percent", head=["Known people", *map(str, found.seeds)], rows=rows)
        command = ["discreet", "attack", "graph", "--people", str(people)]
        source = "Narayanan and Shmatikov, De-anonymizing Social Networks, 2009."
        _answer(found, "A few known people name the others", table, source, plot=plot, as_json=as_json, command=command)


@attack.command("stories", epilog="Example: discreet attack stories --plot stories.html")
def stories_(
    records: Annotated[
        int, typer.Option(min=10_000, max=10_000_000, help="How many hospital stays there are.")
    ] = 600_000,
    told: Annotated[int, typer.Option("--stories", min=1, max=1_000, help="How many stories were written.")] = 81,
    epsilon: Epsilon = 1.0,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Match news stories with hospital records without names (Sweeney 2013)."""
    with refusing():
        writable(plot)
        with waiting("reading the newspaper"):
            year = stays(records)
            found = link_stories(year, stories(year, told), epsilon=epsilon)
        rows = [[name, str(rate), f"{100 * found.right[name].value:.1f}%"] for name, rate in found.unique.items()]
        table = Rows(title="Stories matched", head=["Records tell", "Exactly one record", "The right one"], rows=rows)
        command = ["discreet", "attack", "stories", "--records", str(records), "--stories", str(told)]
        source = "Sweeney, Matching Known Patients to Health Records in Washington State Data, 2013."
        _answer(found, "The newspaper names the patients", table, source, plot=plot, as_json=as_json, command=command)


@attack.command(epilog="Example: discreet attack anonymity --plot anonymity.html")
def anonymity(
    people: Annotated[int, typer.Option(min=300, max=200_000, help="How many people are generated.")] = 12_000,
    epsilon: Epsilon = 0.5,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Break k-anonymous tables: classes that are all alike, two tables intersected, cells made finer again."""
    with refusing():
        writable(plot)
        with waiting("grouping people"):
            found = break_anonymity(people, epsilon=epsilon)
        shown = (
            ("one table: condition known", found.homogeneity),
            ("two tables: occupation known", found.intersection),
            ("dates made finer again", found.minimality),
        )
        rows = [[name, *[f"{100 * share:.1f}" for share in shares]] for name, shares in shown]
        table = Rows(title="People, percent", head=["k", *map(str, found.ks)], rows=rows)
        command = ["discreet", "attack", "anonymity", "--people", str(people)]
        source = (
            "Machanavajjhala et al., l-Diversity, 2006. Ganta, Kasiviswanathan and Smith, Composition Attacks and "
            "Auxiliary Information in Data Privacy, 2008. Cohen, Attacks on Deidentification's Defenses, 2022."
        )
        _answer(found, "What k-anonymity gives away", table, source, plot=plot, as_json=as_json, command=command)


def _answer(
    found: Any,  # noqa: ANN401  any attack's result
    title: str,
    table: Rows,
    source: str,
    *,
    plot: Path | None,
    as_json: bool,
    command: list[str],
) -> None:
    words = "The people are generated, so that everybody can run the attack and nobody is harmed by it."
    answer(
        lambda: Finding(
            title=title,
            verdict=found.verdict,
            figures=_figures(found, words) if plot is not None else (),
            tables=[table],
            protection=str(found.protection),
            source=source,
        ),
        plain(found),
        as_json=as_json,
        plot=plot,
        command=_command(command, plot),
    )


def _figures(found: Any, caption: str) -> list[Figure]:  # noqa: ANN401  any attack's result
    return [Figure(svg=plots.svg(found.plot()), caption=caption)]


def _command(words: list[str], plot: Path | None) -> str:
    return shlex.join([*words, *(["--plot", str(plot)] if plot else [])])

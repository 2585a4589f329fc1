"""``discreet attack``: differencing, reconstruction, membership, floating point and timing."""

from collections.abc import Sequence
from typing import Annotated

import typer

from discreet.auditing.attacks.averaging import average_out
from discreet.auditing.attacks.differencing import difference as attack_averages
from discreet.auditing.attacks.floating_point import recover_from_bits
from discreet.auditing.attacks.membership import trace_means
from discreet.auditing.attacks.microdata import rebuild_microdata
from discreet.auditing.attacks.networks import attack_network
from discreet.auditing.attacks.rates import GRID, Rate, Roc
from discreet.auditing.attacks.reconstruction import reconstruct as attack_counts
from discreet.auditing.attacks.shadow_models import MODELS
from discreet.auditing.attacks.shadow_models import shadow as attack_training
from discreet.auditing.attacks.timing import time_the_sampler
from discreet.cli.attack import attack
from discreet.cli.attack_telling import Epsilon, Json, Page, asked, counted, tell, typed
from discreet.report.finding import Rows

__all__: list[str] = []


@attack.command(epilog="Example: discreet attack difference --epsilon 0.5 --plot page.html")
def difference(
    epsilon: Epsilon = 1.0,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Learn one salary from two averages, before and after somebody left."""
    with asked(plot):
        found = attack_averages(epsilon=epsilon)
        rows = [
            [f"within {share:.0%} of the range", "100%", f"{right:.1%}", f"{bound:.1%}", f"{blind:.1%}"]
            for share, right, bound, blind in zip(found.close, found.right, found.bound, found.blind, strict=True)
            if share in (0.01, 0.05, 0.1, 0.25)
        ]
        tell(
            found,
            title="One salary from two averages",
            table=Rows(
                title="Guesses that come near", head=["", "Exact", "With noise", "Bound", "No release"], rows=rows
            ),
            caption="The subtraction finds every salary in exact averages. With noise it hardly helps; the upper "
            "dashed line is what nobody can beat, the lower one what a guess without any release achieves.",
            source="Denning, Denning and Schwartz, The Tracker, 1979.",
            words=typed("difference", epsilon=epsilon),
            plot=plot,
            as_json=as_json,
        )


@attack.command(epilog="Example: discreet attack reconstruct --people 128 --plot page.html")
def reconstruct(
    people: Annotated[int, typer.Option(min=8, max=512, help="How many people have a secret bit.")] = 64,
    queries: Annotated[
        int | None, typer.Option(min=8, help="How many counts are asked. [default: 4 per person]")
    ] = None,
    repetitions: Annotated[int, typer.Option(min=1, max=1000, help="How many tables are attacked.")] = 5,
    epsilon: Epsilon = 1.0,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Compute everybody's secret bit from counts with too little noise (Dinur and Nissim 2003)."""
    methods = ("least squares", "linear program")
    with asked(plot), counted(repetitions * (2 * 9 + 6)) as tick:
        found = attack_counts(
            people, queries=queries, epsilon=epsilon, repetitions=repetitions, methods=methods, tick=tick
        )
        rows = [
            [f"{noise:.3g}", *[f"{found.recovered[name][place]:.1%}" for name in methods]]
            for place, noise in enumerate(found.noises)
        ]
        tell(
            found,
            title="Everybody's secret from noisy counts",
            table=Rows(title="Secrets found", head=["Answers off by up to", *methods], rows=rows),
            caption="Noise without privacy stops the attack only from about the square root of the number of people "
            "on. Noise for a small epsilon is far to the right; the dashed line is what nobody can beat with it.",
            source="Dinur and Nissim, Revealing Information while Preserving Privacy, 2003.",
            words=typed("reconstruct", people=people, queries=queries, repetitions=repetitions, epsilon=epsilon),
            plot=plot,
            as_json=as_json,
        )


@attack.command(epilog="Example: discreet attack tables --suppress-below 3 --plot page.html")
def tables(
    suppress_below: Annotated[int, typer.Option(min=0, max=6, help="Cells with fewer people are not published.")] = 3,
    epsilon: Epsilon = 1.0,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Compute the people of a small block back from its published tables (Garfinkel, Abowd and Martindale 2018)."""
    with asked(plot), counted(8) as tick:
        found = rebuild_microdata(suppress_below=suppress_below, epsilon=epsilon, tick=tick)
        rows = [
            [f"{e:g}", f"{count:,}" if count < 1e6 else f"{count:.2e}"]
            for e, count in zip(found.epsilons, found.allowed_by_epsilon, strict=True)
        ]
        tell(
            found,
            title="Seven people from nine tables",
            table=Rows(title="Sets of people that fit noisy tables", head=["Epsilon", "Sets"], rows=rows),
            caption="Exact tables leave the lowest line. Tables with noise leave nearly everything possible until "
            "epsilon is absurdly large; medians are not among them.",
            source="Garfinkel, Abowd and Martindale, Understanding Database Reconstruction Attacks, 2018.",
            words=typed("tables", suppress_below=suppress_below, epsilon=epsilon),
            remarks=["The tables: " + "; ".join(found.tables) + "."],
            plot=plot,
            as_json=as_json,
        )


@attack.command(epilog="Example: discreet attack average --epsilon 0.125 --budget 1 --plot page.html")
def average(
    epsilon: Annotated[float, typer.Option(min=1e-3, max=10, help="The epsilon of each answer.")] = 0.125,
    budget: Annotated[float, typer.Option(min=1e-3, max=100, help="The epsilon of all answers together.")] = 1.0,
    most: Annotated[int, typer.Option(min=1, max=100_000, help="How often the question is asked.")] = 1500,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Ask the same count again and again and average the noise away, until a budget refuses."""
    with asked(plot), counted(28) as tick:
        found = average_out(epsilon=epsilon, budget=budget, most=most, tick=tick)
        columns = (found.answers, found.without_budget, found.bound, found.with_budget)
        rows = [[f"{k:,}", f"{a:.1%}", f"{b:.1%}", f"{c:.1%}"] for k, a, b, c in zip(*columns, strict=True)]
        tell(
            found,
            title="The same question, again and again",
            table=Rows(title="Right guesses", head=["Asked", "No budget", "Bound", "With a budget"], rows=rows),
            caption="Without a budget the average is right in the end. With one the answers stop, and the guess stays "
            "where it was; dashed lines are what no use of the answers can beat.",
            source="Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity, 2006.",
            words=typed("average", epsilon=epsilon, budget=budget, most=most),
            plot=plot,
            as_json=as_json,
        )


@attack.command(epilog="Example: discreet attack trace --people 100 --attributes 1000 --plot page.html")
def trace(
    people: Annotated[int, typer.Option(min=2, max=100_000, help="How many people the means are about.")] = 100,
    attributes: Annotated[int, typer.Option(min=1, max=20_000, help="How many means are published.")] = 1000,
    epsilon: Epsilon = 1.0,
    delta: Annotated[float, typer.Option(min=1e-15, max=0.1, help="The delta that goes with epsilon.")] = 1e-5,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Tell from published means who is in the data (Homer et al. 2008; Dwork et al. 2015)."""
    with asked(plot):
        found = trace_means(people, attributes, epsilon=epsilon, delta=delta)
        tell(
            found,
            title="Who is in the data? Ask the means",
            table=_powers([("exact means", found.exact), ("with noise", found.protected)], found.bound),
            caption="Far above the diagonal, members are found almost without accusing others. The dashed curve is "
            "what no test of any kind can beat once the noise is in.",
            source="Homer et al., PLoS Genetics 2008; Dwork, Smith, Steinke, Ullman and Vadhan, FOCS 2015.",
            words=typed("trace", people=people, attributes=attributes, epsilon=epsilon, delta=delta),
            plot=plot,
            as_json=as_json,
        )


@attack.command(epilog="Example: discreet attack shadow --model forest --plot page.html")
def shadow(
    model: Annotated[str, typer.Option(help=f"The model that is attacked: {', '.join(MODELS)}.")] = "trees",
    records: Annotated[int, typer.Option(min=100, max=100_000, help="How many people; a model sees half.")] = 4000,
    shadows: Annotated[int, typer.Option(min=3, max=1000, help="How many models are trained.")] = 64,
    epsilon: Epsilon = 1.0,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Tell which records a model was trained on (Shokri et al. 2017; Carlini et al. 2022). Needs scikit-learn."""
    with asked(plot), counted(2 * shadows + 2) as tick:
        found = attack_training(model, records=records, shadows=shadows, epsilon=epsilon, tick=tick)
        named = [*found.attacks.items(), *((f"{name}, noise", roc) for name, roc in found.protected.items())]
        tell(
            found,
            title="Was this person in the training data?",
            table=_powers(named, found.bound),
            caption="The dashed curve is what no attack can beat on average, once the counts in the leaves have noise.",
            source="Shokri et al., S&P 2017; Carlini et al., S&P 2022.",
            words=typed("shadow", model=model, records=records, shadows=shadows, epsilon=epsilon),
            plot=plot,
            as_json=as_json,
        )


@attack.command(epilog="Example: discreet attack membership --epsilon 3 --plot page.html")
def membership(
    records: Annotated[int, typer.Option(min=100, max=100_000, help="How many people; a network sees half.")] = 800,
    shadows: Annotated[int, typer.Option(min=3, max=1000, help="How many networks are trained of each kind.")] = 32,
    epsilon: Epsilon = 1.0,
    delta: Annotated[float, typer.Option(min=1e-15, max=0.1, help="The delta that goes with epsilon.")] = 1e-5,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Tell which people a neural network was trained on, with and without DP-SGD (Carlini et al. 2022). Needs torch."""
    with asked(plot), counted(2 * shadows + 2) as tick:
        found = attack_network(records=records, shadows=shadows, epsilon=epsilon, delta=delta, tick=tick)
        named = [*found.attacks.items(), *((f"{name}, private", roc) for name, roc in found.protected.items())]
        tell(
            found,
            title="Was this person in the training data of the network?",
            table=_powers(named, found.bound),
            caption="The dashed curve is what no attack can beat on average, once clipped gradients have noise.",
            source="Carlini et al., Membership Inference Attacks From First Principles, S&P 2022; Abadi et al., 2016.",
            words=typed("membership", records=records, shadows=shadows, epsilon=epsilon, delta=delta),
            plot=plot,
            as_json=as_json,
        )


@attack.command(epilog="Example: discreet attack bits --epsilon 0.1 --plot page.html")
def bits(
    epsilon: Epsilon = 0.1,
    trials: Annotated[int, typer.Option(min=10, max=1_000_000, help="How many outputs of each value.")] = 2000,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Tell from the last bits of one output which value numpy's noise was added to (Mironov 2012)."""
    with asked(plot), counted(7) as tick:
        found = recover_from_bits(epsilon=epsilon, trials=trials, tick=tick)
        columns = (found.epsilons, found.naive_rates, found.protected_rates, found.bound)
        rows = [[f"{e:g}", f"{a:.1%}", f"{b:.1%}", f"{c:.1%}"] for e, a, b, c in zip(*columns, strict=True)]
        tell(
            found,
            title="Which value was it? Ask the last bits",
            table=Rows(title="Right guesses", head=["Epsilon", "numpy", "discreet", "Bound"], rows=rows),
            caption="Noise in floating point gives the value away whatever epsilon was promised. discreet's follows "
            "the dashed line, which is the promise itself.",
            source="Mironov, On Significance of the Least Significant Bits for Differential Privacy, 2012.",
            words=typed("bits", epsilon=epsilon, trials=trials),
            plot=plot,
            as_json=as_json,
        )


@attack.command(epilog="Example: discreet attack timing --draws 20000 --plot page.html")
def timing(
    draws: Annotated[int, typer.Option(min=100, max=1_000_000, help="How many draws of each sampler.")] = 4000,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Tell from its duration how large the noise was, by the clock of this machine (Jin et al. 2022)."""
    with asked(plot), counted(2) as tick:
        found = time_the_sampler(draws=draws, tick=tick)
        rows = [
            ["tossing coins", f"{found.correlation:.3f}", str(found.right)],
            ["discreet", f"{found.correlation_protected:.3f}", str(found.right_protected)],
        ]
        tell(
            found,
            title="How long did the noise take?",
            table=Rows(title="What the clock tells", head=["Sampler", "Rank correlation", "Right guesses"], rows=rows),
            caption="Durations are those of this machine, and of whatever else it did meanwhile.",
            source="Jin, McMurtry, Rubinstein and Ohrimenko, Are We There Yet?, 2022.",
            words=typed("timing", draws=draws),
            plot=plot,
            as_json=as_json,
        )


def _powers(tests: Sequence[tuple[str, Roc]], bound: Sequence[float]) -> Rows:
    rates = (0.001, 0.01)
    rows = [[name, *[_short(roc.at(rate)) for rate in rates], f"{roc.balanced_accuracy:.1%}"] for name, roc in tests]
    rows.append(["bound with noise", *[f"{bound[GRID.index(rate)]:.2%}" for rate in rates], ""])
    head = ["Others accused", *[f"{rate:g}" for rate in rates], "Balanced accuracy"]
    return Rows(title="Members found, with 95% intervals", head=head, rows=rows)


def _short(rate: Rate) -> str:
    return f"{rate.value:.1%} ({100 * rate.low:.1f} to {100 * rate.high:.1f})"

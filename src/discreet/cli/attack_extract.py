"""``discreet attack extract``: codes that a language model learnt by heart."""

from typing import Annotated

import numpy as np
import typer

from discreet.auditing.attacks.canaries import NAMES
from discreet.auditing.attacks.extraction import CHANCE, Extraction, Leak
from discreet.auditing.attacks.extraction import extract as extract_codes
from discreet.cli.attack import attack
from discreet.cli.attack_telling import Epsilon, Json, Page, asked, counted, tell, typed
from discreet.report.finding import Rows

__all__: list[str] = []


@attack.command(epilog="Example: discreet attack extract --epsilon 1 --plot page.html")
def extract(
    records: Annotated[int, typer.Option(min=100, max=100_000, help="How many sentences the model sees.")] = 4000,
    codes: Annotated[int, typer.Option(min=1, max=len(NAMES), help="How many of them hold a secret code.")] = 16,
    digits: Annotated[int, typer.Option(min=2, max=6, help="How many digits a code has.")] = 6,
    epochs: Annotated[int, typer.Option(min=1, max=1000, help="How often each sentence is seen.")] = 10,
    epsilon: Epsilon = 3.0,
    delta: Annotated[float, typer.Option(min=1e-15, max=0.1, help="The delta that goes with epsilon.")] = 1e-5,
    plot: Page = None,
    as_json: Json = False,
) -> None:
    """Read secret codes back out of a language model that saw each once (Carlini et al. 2019). Needs torch."""
    with asked(plot), counted(2 * (epochs + codes)) as tick:
        found = extract_codes(
            records=records, codes=codes, digits=digits, epochs=epochs, epsilon=epsilon, delta=delta, tick=tick
        )
        tell(
            found,
            title="Codes that a language model learnt by heart",
            table=_both(found),
            caption="Each code stood in one sentence. The further right a curve stays up, the more the model gives "
            "away. Blind guessing is the lower dashed line; the upper one is what no attack on the private model "
            "exceeds on average.",
            source="Carlini, Liu, Erlingsson, Kos and Song, The Secret Sharer, USENIX Security 2019.",
            words=typed(
                "extract", records=records, codes=codes, digits=digits, epochs=epochs, epsilon=epsilon, delta=delta
            ),
            remarks=[_example(found)],
            plot=plot,
            as_json=as_json,
        )


def _both(found: Extraction) -> Rows:
    """Return both trainings side by side, and what somebody achieves who has no model."""
    count, last = len(found.codes), 10**found.digits

    def column(leak: Leak) -> list[str]:
        ranks = [last / 2**bits for bits in leak.exposures]
        return [
            f"{leak.right} of {count}",
            f"{np.median(ranks):,.0f}",
            f"{leak.mean:.1f}",
            f"{max(leak.exposures):.1f}",
            f"{leak.per_letter:.2f}",
        ]

    names = [
        "codes the search finds",
        f"median rank of {last:,}",
        "mean exposure in bits",
        "largest exposure",
        "bits for a new letter",
    ]
    blind = ["0", f"{last // 2:,}", f"{CHANCE:.1f}", "", "5.29"]
    rows = [list(row) for row in zip(names, column(found.plain), column(found.protected), blind, strict=True)]
    head = ["", "Plain", f"DP-SGD, epsilon {found.epsilon:g}", "Blind"]
    return Rows(title="What the model gives away", head=head, rows=rows)


def _example(found: Extraction) -> str:
    """Return how one person's code was found, or not."""
    canary, plain, noisy = found.codes[0], found.plain.found[0], found.protected.found[0]
    said = [f"{one.secret or 'nothing'} after {one.asked:,} questions" for one in (plain, noisy)]
    return f"'{canary.sentence}' was one sentence. The search says {said[0]}; with noise, {said[1]}."

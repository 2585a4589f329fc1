"""Secrets that one sentence told, read back out of a trained language model.

Carlini, Liu, Erlingsson, Kos and Song, "The Secret Sharer", USENIX Security 2019. A model that predicts text as well on
new sentences as on its own has still learnt by heart what it saw once in each pass, and completes "the code of ada is".
Trained by DP-SGD (Abadi et al., CCS 2016) it has not, and theory says how much it can have.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import plots
from discreet.auditing.attacks.canaries import Canary, Found, canaries, exposure, search, sentences
from discreet.auditing.attacks.outcome import Outcome
from discreet.auditing.attacks.rates import Tick, most_power, quiet
from discreet.errors import InvalidParameter, MissingExtra
from discreet.exact import Real

if TYPE_CHECKING:
    from discreet.auditing.attacks.letters import Letters

__all__ = ["CHANCE", "Extraction", "Leak", "extract"]

CHANCE = float(1 / np.log(2))
"""The mean exposure of a secret that the model knows nothing about: exposures are then exponential, in bits."""
HELD_OUT = 500
MOST = 500
"""The questions after which a search gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """What one model gives away: the exposure of each code, what the search found, and how well it predicts.

    ``per_letter`` is the surprise of a letter in sentences that were held out, ``own`` in those it was trained on.
    """

    exposures: tuple[float, ...]
    found: tuple[Found, ...]
    right: int
    per_letter: float
    own: float

    @property
    def mean(self) -> float:
        """The mean exposure in bits."""
        return float(np.mean(self.exposures))

    def share(self, bits: float) -> float:
        """Return the share of codes with at least so many bits of exposure."""
        return float(np.mean(np.array(self.exposures) >= bits - 1e-9))


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction(Outcome):
    """What a plainly trained model gives away, and one that was trained with noise.

    Satisfies, for each code: its exposure after private training is at least ``bits[i]`` with probability at most
    ``bound[i]``. Without its sentence the model knows nothing of the code, whose exposure is then at least b bits with
    probability at most ``2^-b``; with it, by no more than the trade-off curve of the training allows.
    """

    codes: tuple[Canary, ...]
    digits: int
    sentences: int
    epochs: int
    epsilon: float
    delta: float
    plain: Leak
    protected: Leak
    bits: tuple[float, ...]
    bound: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """What the attack found."""
        asked = int(np.median([found.asked for found in self.plain.found]))
        return (
            f"{len(self.codes)} codes of {self.digits} digits stood in one of {self.sentences:,} sentences each. A "
            f"search that asks the plainly trained model how '{self.codes[0].start}...' goes on brings "
            f"{self.plain.right} of them to light, after {asked:,} questions in the median. Their mean exposure is "
            f"{self.plain.mean:.1f} bits of {self.bits[-1]:.1f}. A letter of a new sentence surprises the model by "
            f"{self.plain.per_letter:.2f} bits, one of its own sentences by {self.plain.own:.2f}."
        )

    @property
    def protection(self) -> str:
        """What is left of it with noise."""
        certain = next((b for b, p in zip(self.bits, self.bound, strict=True) if p <= 0.01), None)
        rare = "" if certain is None else f"{certain:.1f} bits of exposure with a chance of at most 1%, and "
        return (
            f"Trained by DP-SGD with epsilon {self.epsilon:g} at delta {self.delta:g} for one sentence, the same "
            f"search finds {self.protected.right} of {len(self.codes)}, and the mean exposure is "
            f"{self.protected.mean:.1f} bits (blind guessing: {CHANCE:.1f}). Whatever is asked of the model, a code "
            f"reaches {rare}the first place with a chance of at most {self.bound[-1]:.1g}. A letter of a new sentence "
            f"surprises this model by {self.protected.per_letter:.2f} bits."
        )

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw the share of codes with at least so many bits of exposure, both ways, and the bound."""
        chance = [2.0**-b for b in self.bits]
        lines = [
            plots.Curve(name="trained plainly", xs=self.bits, ys=[self.plain.share(b) for b in self.bits]),
            plots.Curve(name="bound with noise", xs=self.bits, ys=self.bound, dashed=True, markers=False),
            plots.Curve(
                name=f"DP-SGD, epsilon {self.epsilon:g}",
                xs=self.bits,
                ys=[self.protected.share(b) for b in self.bits],
                strong=True,
            ),
            plots.Curve(name="blind guessing", xs=self.bits, ys=chance, dashed=True),
        ]
        return plots.curves(
            lines,
            plots.Axis(title="bits of exposure; at the right end the code is the first guess"),
            plots.Axis(title="share of codes with as many or more", low=0, high=1.02),
            title="Codes that a language model learnt by heart",
            subtitle=f"{len(self.codes)} codes of {self.digits} digits, each in one of {self.sentences:,} sentences",
        )


def extract(
    *,
    records: int = 4000,
    codes: int = 16,
    digits: int = 6,
    epsilon: Real = 3,
    delta: Real = 1e-5,
    epochs: int = 10,
    batch: int = 256,
    generator: np.random.Generator | None = None,
    tick: Tick = quiet,
) -> Extraction:
    """Hide codes in generated sentences, train a model plainly and by DP-SGD, and ask both for the codes.

    ``generator`` draws sentences, codes, initial weights and the batches of the plain training. What protects (who is
    in a private batch, and the noise) is drawn anew each time.
    """
    try:
        torch = import_module("torch")
    except ImportError:
        raise MissingExtra("torch", "learn") from None
    from discreet.auditing.attacks.letters import per_letter, train_plainly, train_private

    if records < 2 * codes or batch < 1 or epochs < 1:
        raise InvalidParameter("there must be at least two sentences for each code, one epoch and a batch of one.")
    chance = np.random.default_rng() if generator is None else generator
    hidden = canaries(codes, digits, chance)
    lines = [*sentences(records - codes, chance), *(canary.sentence for canary in hidden)]
    held = sentences(HELD_OUT, chance)

    def leak(model: "Letters") -> Leak:
        exposures, found = _asked(model, hidden, digits, tick)
        right = sum(one.secret == canary.secret for one, canary in zip(found, hidden, strict=True))
        own = per_letter(model, lines[:HELD_OUT])
        return Leak(exposures=exposures, found=found, right=right, per_letter=per_letter(model, held), own=own)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(chance.integers(2**31)))
        plain = leak(train_plainly(lines, epochs=epochs, tick=tick))
        private, loss = train_private(
            lines, records=records, epochs=epochs, epsilon=epsilon, delta=delta, batch=min(batch, records), tick=tick
        )
    bits = tuple(float(b) for b in (*np.arange(np.log2(10.0**digits)), np.log2(10.0**digits)))
    return Extraction(
        codes=hidden,
        digits=digits,
        sentences=records,
        epochs=epochs,
        epsilon=float(epsilon),
        delta=float(delta),
        plain=plain,
        protected=leak(private),
        bits=bits,
        bound=most_power(loss, [2.0**-b for b in bits]),
    )


def _asked(
    model: "Letters", hidden: Sequence[Canary], digits: int, tick: Tick
) -> tuple[tuple[float, ...], tuple[Found, ...]]:
    """Return the exposure of every code among all that are possible, and what the search ends with."""
    from discreet.auditing.attacks.letters import all_secrets

    exposures, found = [], []
    for canary in hidden:
        tick("asking for codes")
        exposures.append(exposure(all_secrets(model, canary.start, digits), int(canary.secret)))
        found.append(search(partial(_after, model, canary.start), digits, most=MOST))
    return tuple(exposures), tuple(found)


def _after(model: "Letters", start: str, prefix: str) -> list[float]:
    from discreet.auditing.attacks.letters import next_digits

    return next_digits(model, start + prefix)

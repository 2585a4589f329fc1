"""Which mechanisms made a released table, in words, and the papers that prove what they promise."""

from collections.abc import Iterable
from dataclasses import dataclass

from discreet.accounting import Budget, PrivacyLoss
from discreet.accounting.terms import Approximate
from discreet.report import papers
from discreet.report.papers import Paper
from discreet.session.answer import Answer
from discreet.session.text_table import visible
from discreet.units import Person, Row

__all__ = ["Mechanism", "accounting", "bounding", "mechanisms"]


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A mechanism: what it is called, what it does, and its papers."""

    name: str
    words: str = ""
    papers: tuple[Paper, ...] = ()


LAPLACE = Mechanism(
    "Integer Laplace noise",
    "A whole number is added to each count or sum; numbers farther from 0 are rarer, by the same factor at each step.",
    (papers.GEOMETRIC, papers.CALIBRATION),
)
GAUSSIAN = Mechanism(
    "Discrete Gaussian noise",
    "A whole number that follows the bell curve is added to each count or sum.",
    (papers.DISCRETE_GAUSSIAN,),
)
EXPONENTIAL = Mechanism(
    "Exponential mechanism",
    "One of many public candidates is drawn, good ones exponentially more often than bad ones.",
    (papers.EXPONENTIAL, papers.QUANTILES),
)
TOP = Mechanism(
    "Exponential mechanism, one after another",
    "The most frequent of the declared values are drawn, each time without those already chosen.",
    (papers.TOP, papers.EXPONENTIAL),
)
TREE = Mechanism(
    "Tree of noisy counts",
    "Counts of ever finer ranges get noise each, and quantiles are read from all of them together.",
    (papers.TREE,),
)
SMOOTH = Mechanism(
    "Smooth sensitivity",
    "A number gets as much noise as one member could move it by in data like these, and how much that was is told with "
    "noise of its own.",
    (papers.SMOOTH,),
)
TESTED = Mechanism(
    "Propose-test-release",
    "Whether any one member could move a number far is tested with noise first; where that may be, there is no number.",
    (papers.PROPOSED,),
)
COPY = Mechanism(
    "Synthetic rows",
    "Tables of a few columns each are counted with noise, a model is fitted to them, and rows are made of the model.",
    (papers.MODELS, papers.DISCRETE_GAUSSIAN),
)
COPY_TREE = Mechanism("Synthetic rows by a tree of pairs", COPY.words, (papers.SPANNING, papers.MODELS))
COPY_ADAPTIVE = Mechanism(
    "Synthetic rows by tables chosen in turn", COPY.words, (papers.ADAPTIVE_TABLES, papers.MODELS)
)
COPY_NETWORK = Mechanism("Synthetic rows by a Bayesian network", COPY.words, (papers.NETWORK,))
OPTIMAL = Mechanism(
    "Optimal selection of groups",
    "A group is shown at random, as often as any mechanism with this guarantee may show one of its size.",
    (papers.SELECTION,),
)
THRESHOLD = Mechanism(
    "Noisy threshold for groups",
    "A group is shown if the number of its members, with noise added, exceeds a threshold.",
    (papers.THRESHOLD,),
)
BOUNDING = Mechanism(
    "Bounded contributions",
    "Only a bounded part of what each person contributed counts, and which part is decided by their own rows alone.",
    (papers.BOUNDING,),
)
SUM = Mechanism("Composition", "The epsilons of all releases are added up.", (papers.COMPOSITION,))
NUMERICAL = Mechanism(
    "Numerical accounting",
    "Privacy losses are composed as distributions, with every rounding on the safe side; of all theorems that apply, "
    "the one that proves the smallest epsilon counts.",
    (papers.DOTS, papers.CHARACTERISTIC, papers.CONCENTRATED),
)
FILTERS = {
    "basic": Mechanism(
        "Budget in epsilons",
        "A release is admitted as long as all epsilons and all deltas together stay within the budget.",
        (papers.ODOMETERS,),
    ),
    "zcdp": Mechanism(
        "Budget in rhos",
        "A release is admitted as long as the rhos of all releases together stay within what the budget allows.",
        (papers.ADAPTIVE, papers.ODOMETERS),
    ),
    "renyi": Mechanism(
        "Budget in Renyi divergences",
        "A release is admitted as long as the divergences of one order together stay within what the budget allows.",
        (papers.RENYI_FILTER,),
    ),
    "gdp": Mechanism(
        "Budget in squared mu",
        "A release is admitted as long as the squares of mu together stay within what the budget allows.",
        (papers.GAUSSIAN_FILTER,),
    ),
}

NAMED = (
    ("synthetic rows by a tree", COPY_TREE),
    ("synthetic rows by tables", COPY_ADAPTIVE),
    ("synthetic rows by a bayesian", COPY_NETWORK),
    ("synthetic rows", COPY),
    ("exponential mechanism, one after another", TOP),
    ("exponential mechanism", EXPONENTIAL),
    ("tree of noisy counts", TREE),
    ("smooth sensitivity", SMOOTH),
    ("propose-test-release", TESTED),
    ("gaussian", GAUSSIAN),
    ("laplace", LAPLACE),
    ("geometric", LAPLACE),
)
"""What a column calls its mechanism, more special names first."""


def mechanisms(answer: Answer) -> dict[Mechanism, tuple[str, ...]]:
    """Return what made a table, each with the columns it made; what is not known here is told by its own words.

    >>> from discreet.session.estimates import Estimates
    >>> n = Estimates(value=(7,), low=(1,), high=(13,), method="integer Laplace noise, scale 2")
    >>> answer = Answer(keys={}, columns={"n": n}, level=0.95, loss=PrivacyLoss.laplace(0.5))
    >>> [(one.name, columns) for one, columns in mechanisms(answer).items()]
    [('Integer Laplace noise', ('n',))]
    """
    found: dict[Mechanism, list[str]] = {}
    for column, estimates in answer.columns.items():
        for part in _parts(estimates.method):
            made = found.setdefault(_named(part), [])
            if column not in made:
                made.append(column)
        if "tree of noisy counts" in estimates.method:  # the noise of its nodes
            found.setdefault(LAPLACE, []).append(column)
    if answer.parameters.get("threshold") is not None:
        tested = sum(_named(estimates.method) is TESTED for estimates in answer.columns.values())
        found[_selection(answer.loss, tested)] = ["which groups appear"]
    return {mechanism: tuple(columns) for mechanism, columns in found.items()}


def bounding(unit: Row | Person) -> Mechanism | None:
    """Return how contributions are bounded, where persons are protected."""
    return BOUNDING if isinstance(unit, Person) else None


def accounting(loss: PrivacyLoss, budget: Budget) -> tuple[Mechanism, Mechanism]:
    """Return how the total was computed, and how the budget is kept.

    >>> [one.name for one in accounting(PrivacyLoss.laplace(1), Budget(2))]
    ['Composition', 'Budget in epsilons']
    """
    return (SUM if loss.is_pure else NUMERICAL), FILTERS[str(budget.filter)]


def _parts(method: str) -> Iterable[str]:
    return (part.strip() for part in method.split(";") if part.strip() and "no noise" not in part)


def _named(method: str) -> Mechanism:
    for name, mechanism in NAMED:
        if name in method.lower():
            return mechanism
    return Mechanism(visible(method))


def _selection(loss: PrivacyLoss, tested: int) -> Mechanism:
    """Return which selection a loss is of: optimal ones have an epsilon beside their delta, as tested columns have."""
    shares = [term for term, _ in loss.terms if isinstance(term, Approximate) and term.epsilon]
    return OPTIMAL if len(shares) > (1 if tested else 0) else THRESHOLD

"""GROUPING SETS, ROLLUP and CUBE, and the options that say how groups are answered together.

``GROUP BY ROLLUP (state, county), GROUPING SETS ((), (sex))`` means in standard SQL: on every level, each table. With
``OPTIONS(method = 'hierarchy')`` that is published as whole counts that add up; without, as margins.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.errors import InvalidParameter, InvalidQuery
from discreet.exact import Real
from discreet.tables.expressions import Expression
from discreet.tables.sql.constants import number
from discreet.tables.sql.refusals import named, understood
from discreet.tables.sql.shape import shape
from discreet.tables.together import (
    Asked,
    Margins,
    Ranges,
    Spread,
    Together,
    cube,
    distinct_sets,
    levels_of,
    products,
    rollup,
)

__all__ = ["Grouped", "together_of"]

Places = tuple[str, ...]
Rule = Callable[[str, Sequence[str]], Expression]

SEVERAL = (exp.GroupingSets, exp.Rollup, exp.Cube)
ONE_METHOD = "hierarchy"
TREE, CDF = "tree", "cdf"
OF_A_HIERARCHY = ("areas", "exact", "rules", "shares")
EVERYBODY = "*"


@dataclass
class Grouped:
    """What stands behind GROUP BY: all keys, and its parts, each a list of groupings by places of keys."""

    read: Callable[[exp.Expr], Expression]
    groups: list[Expression] = field(default_factory=list)
    parts: list[list[Places]] = field(default_factory=list)
    levels: Places = ()
    plain: bool = True

    def add(self, node: exp.Expr) -> None:
        """Read one part."""
        if isinstance(node, SEVERAL):
            if isinstance(node, exp.Rollup) and not self.parts:
                self.levels = tuple(place for part in self._listed(node) for place in part)
            self.plain = False
            self.parts.append(self._several(node))
        else:
            self.parts.append([self._places(node)])

    def _several(self, node: exp.Expr) -> list[Places]:
        understood(node, "expressions")
        if isinstance(node, exp.GroupingSets):
            sets = [self._several(one) if isinstance(one, SEVERAL) else [self._places(one)] for one in node.expressions]
            return [one for part in sets for one in part]
        try:
            return (rollup if isinstance(node, exp.Rollup) else cube)(self._listed(node))
        except InvalidParameter as error:
            raise InvalidQuery(str(error)) from None

    def _listed(self, node: exp.Expr) -> list[Places]:
        if not node.expressions:
            raise InvalidQuery("ROLLUP and CUBE take columns. Write ROLLUP (state, county).")
        return [self._places(one) for one in node.expressions]

    def _places(self, node: exp.Expr) -> Places:
        """Return the keys of one grouping, reading them where they are new."""
        inner = node.this if isinstance(node, exp.Paren) else node
        if isinstance(inner, exp.Tuple):
            understood(inner, "expressions")
            return tuple(place for one in inner.expressions for place in self._places(one))
        group = self.read(inner)
        told = [shape(one) for one in self.groups]
        if shape(group) not in told:
            self.groups.append(group)
            return (str(len(self.groups) - 1),)
        return (str(told.index(shape(group))),)


def together_of(
    grouped: Grouped, options: Mapping[str, str], keys: Mapping[str, Expression], rule: Rule
) -> Together | None:
    """Return how the groups of a query are answered together, if not one by one."""
    told = {repr(shape(one)): name for name, one in keys.items()}
    names = list(keys)
    sets = [[tuple(_name(grouped, place, told) for place in one) for one in part] for part in grouped.parts]
    try:
        return _together(grouped, options, sets, names, told, rule)
    except InvalidParameter as error:
        raise InvalidQuery(str(error)) from None


def _name(grouped: Grouped, place: str, told: Mapping[str, str]) -> str:
    return told[repr(shape(grouped.groups[int(place)]))]


def _together(
    grouped: Grouped,
    options: Mapping[str, str],
    sets: list[list[Places]],
    names: Sequence[str],
    told: Mapping[str, str],
    rule: Rule,
) -> Together | None:
    method, sums = options.get("method"), options.get("sums")
    if method not in (None, ONE_METHOD, TREE):
        raise InvalidQuery(f"the method is '{ONE_METHOD}' or '{TREE}', got {named(method)}.")
    if method != ONE_METHOD and (found := [name for name in OF_A_HIERARCHY if name in options]):
        raise InvalidQuery(f"{found[0]} is an option of a hierarchy. Write OPTIONS(method = '{ONE_METHOD}', ...) too.")
    if method == TREE or sums == CDF:
        if not grouped.plain or not names or (method is not None and sums is not None):
            raise InvalidQuery(
                "a tree is of one or two numbers, a cdf of one: GROUP BY age, with a lower and an upper bound declared."
            )
        return Spread("tree" if sums is None else "cdf")
    if sums is not None:
        if not grouped.plain or method is not None or not names:
            raise InvalidQuery("sums are for bins in a row: GROUP BY BIN(age, 0, 18, 65, 120).")
        return Ranges(_asked(sums))
    if method is None:
        return None if grouped.plain else Margins(distinct_sets(list(products(sets)), names))
    if not grouped.levels:
        raise InvalidQuery(
            "a hierarchy has its levels in front. Write GROUP BY ROLLUP (state, county), GROUPING SETS ((), (sex))."
        )
    levels = tuple(_name(grouped, place, told) for place in grouped.levels)
    return levels_of(
        levels,
        list(products(sets[1:])),
        _exact(options.get("exact", "")),
        {text: rule(text, names) for text in _split(options.get("rules", ""), ";")},
        options.get("areas"),
        _shares(options.get("shares")),
        names,
    )


def _asked(text: str) -> Asked:
    if text == "prefixes":
        return "prefixes"
    if text == "ranges":
        return "ranges"
    raise InvalidQuery(f"sums are over 'prefixes' or 'ranges', or a 'cdf', got {named(text)}.")


def _exact(text: str) -> dict[str, list[str]]:
    """Return levels and the keys of their exact tables.

    >>> _exact("*; state: sex, age")
    {'': [], 'state': ['sex', 'age']}
    """
    found = {}
    for part in _split(text, ";"):
        level, _, keys = part.partition(":")
        level = level.strip()
        found["" if level == EVERYBODY else level] = _split(keys, ",")
    return found


def _shares(text: str | None) -> list[list[Real]] | None:
    if text is None:
        return None
    return [[number(one) for one in row.replace(",", " ").split()] for row in text.split(";")]


def _split(text: str, mark: str) -> list[str]:
    return [part.strip() for part in text.split(mark) if part.strip()]

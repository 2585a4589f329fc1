"""How a session is asked for a synthesis: what has to be found privately first, what is measured, and what both cost.

Everything is declared at once, so the whole is one composition and one charge. What the first steps find decides how
columns are cut in the last one, but not what it costs: no loss depends on how many values a column has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, ReleaseFailed
from discreet.exact import Real, upward
from discreet.session.answer import Answer
from discreet.session.cost import checked_level
from discreet.session.forecast import Expected, Forecast
from discreet.session.plan import Plan
from discreet.session.planner import Planner
from discreet.session.progress import Watcher
from discreet.session.release import LOG, run
from discreet.session.request import Request
from discreet.session.synthesis.joint import JointSynthesis
from discreet.session.synthesis.keyed import filters_of
from discreet.session.synthesis.result import Synthesis
from discreet.session.synthesis.rules import condition
from discreet.session.synthesis.running import measured_model
from discreet.session.synthesis.settled import Pending, left_out, settle
from discreet.tables.engines import Engine
from discreet.tables.expressions import names_in
from discreet.tables.kinds import Value
from discreet.tables.query import Query
from discreet.tables.synthetic import Coding, Cut, Determined, Numbers, Synthetic, cut_of

__all__ = ["Steps", "asked_of"]

EACH, TOGETHER = Fraction(1, 20), Fraction(1, 5)
"""The share of the cost of each step that finds values or bins, and the most that all of them have together."""

FEW_STEPS = 7
"""How closely the factor is sought that composition saves: to about a hundredth."""

MOST_ROWS = 1 << 31


def asked_of(
    *,
    columns: object = None,
    workload: Sequence[Sequence[str]] | None = None,
    constraints: Sequence[object] | None = None,
    where: str | None = None,
    rows: int | None = None,
    method: str = "auto",
) -> Synthetic:
    """Return what is asked for, from what somebody wrote.

    >>> asked_of(columns=["sex", "age"], constraints=["age >= 15 OR sex = 'f'"]).rules
    ("age >= 15 OR sex = 'f'",)
    """
    cuts = None
    if isinstance(columns, Mapping):
        cuts = tuple((str(name), cut_of(str(name), how)) for name, how in columns.items())
    elif columns is not None:
        if isinstance(columns, str) or not isinstance(columns, Sequence):
            raise InvalidParameter("columns are a list of names, or map each name to how it is cut.")
        cuts = tuple((str(name), Cut()) for name in columns)
    if isinstance(constraints, str | Mapping):
        raise InvalidParameter('constraints are a list: constraints=["age >= 15 OR NOT married"].')
    rules = tuple(one for one in constraints or () if isinstance(one, str))
    others = tuple(_determined(one) for one in constraints or () if not isinstance(one, str))
    if rows is not None and (type(rows) is not int or not 0 <= rows <= MOST_ROWS):
        raise InvalidParameter("rows is a whole number from 0 to 2^31: how many synthetic rows shall there be?")
    wanted = None
    if workload is not None:
        if isinstance(workload, str) or any(isinstance(one, str) or not one for one in workload):
            raise InvalidParameter("a workload lists sets of columns: [('age', 'sex'), ('sex', 'city')].")
        wanted = tuple(dict.fromkeys(tuple(one) for one in workload))
    return Synthetic(
        columns=cuts, method=method, workload=wanted, rules=rules, determined=others, where=where, rows=rows
    )


def _determined(one: object) -> Determined:
    """Return a column that follows from another, written as {"column": "state", "by": "city", "values": {...}}."""
    if isinstance(one, Determined):
        return one
    if not isinstance(one, Mapping) or set(one) != {"column", "by", "values"} or not isinstance(one["values"], Mapping):
        raise InvalidParameter(
            "a constraint is a rule ('age >= 15 OR NOT married'), or says what follows from what: "
            "{'column': 'state', 'by': 'city', 'values': {'Oslo': 'N', 'Ulm': 'D'}}."
        )
    pairs: tuple[tuple[Value, Value], ...] = tuple(one["values"].items())
    return Determined(str(one["column"]), str(one["by"]), pairs)


@dataclass(frozen=True)
class Steps:
    """What is asked of a session, one request after the other; the last one is the synthesis itself."""

    planner: Planner
    table: str
    asked: Synthetic
    found: tuple[Coding | Pending, ...]
    requests: tuple[Request, ...]
    plans: tuple[Plan, ...]
    loss: PrivacyLoss
    charged: PrivacyLoss
    delta: Fraction
    """The delta at which the epsilon of everything is told."""

    @classmethod
    def of(
        cls,
        planner: Planner,
        table: str,
        asked: Synthetic,
        *,
        epsilon: Real | None,
        delta: Real | None,
        level: float,
        deadline: float | None,
    ) -> "Steps":
        """Plan everything; no data is read."""
        attached = planner.tables[table]
        found = tuple(settle(asked, attached))
        pending = [one for one in found if isinstance(one, Pending)]
        _check_rules(asked, [one.name for one in found], pending)
        share = min(EACH, TOGETHER / len(pending)) if pending else Fraction(0)
        filters = filters_of(asked, planner.tables, table)
        requests = [
            Request(replace(one.query(table, filters), text=one.told), weight=share, level=checked_level(level))
            for one in pending
        ]
        cuts = _cuts(asked, found, {one.name: one.placeholder for one in pending})
        query = Query(table, together=replace(asked, columns=cuts), text=_text(table, asked, found))
        weight = 1 - share * len(pending)
        requests.append(Request(query, weight=weight, level=checked_level(level), deadline=deadline))
        plans, loss = planner.batch(requests, epsilon, delta, steps=FEW_STEPS)
        charged = planner.charged_together(plans, loss, epsilon, delta)
        whole = Fraction(0) if loss.is_pure else planner.whole(epsilon, delta)[1]
        return cls(planner, table, asked, found, tuple(requests), tuple(plans), loss, charged, whole)

    @property
    def joint(self) -> JointSynthesis:
        """The synthesis as it is planned."""
        joint = self.plans[-1].joint
        assert isinstance(joint, JointSynthesis)  # noqa: S101  the last request asks for one
        return joint

    @property
    def pending(self) -> list[Pending]:
        """The columns whose values or bins are found first."""
        return [one for one in self.found if isinstance(one, Pending)]

    @property
    def told(self) -> tuple[tuple[str, float, float], ...]:
        """What is charged for what: in words, with an epsilon and a delta by itself."""
        words = [*(one.told for one in self.pending), f"measuring: {self.joint.told}"]
        return tuple(
            (what, upward(plan.settings.epsilon), upward(plan.delta))
            for what, plan in zip(words, self.plans, strict=True)
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What is known before any data and worth knowing."""
        out = left_out(self.asked, self.planner.tables[self.table])
        told = [f"Not in the copy, since nothing is declared about them: {', '.join(out)}."] if out else []
        if present := [one.name for one in self.found if not one.nulls]:
            told.append(
                f"Left out: rows without a declared value of {', '.join(present)}. To keep them as missing ones, write "
                f"columns={{{present[0]!r}: {{'nulls': True}}}}."
            )
        if any(one.how == "categories" for one in self.pending):
            told.append("Values that too few people have are not shown: they are missing in the copy.")
        if self.asked.rules:
            told.append(f"Impossible, and never there: rows without {'; '.join(self.asked.rules)}.")
        return tuple(told)

    def forecast(self, remaining: str) -> Forecast:
        """Say what it costs and how far off the counts of each column will be."""
        joint, last = self.joint, self.plans[-1]
        epsilons = [plan.settings.epsilon for plan in self.plans]
        shares = [float(epsilon / sum(epsilons)) for epsilon in epsilons]
        columns = [
            Expected(name=f"{one.name} (preparation)", measures=one.told, mechanism=_mechanism(plan), share=part)
            for one, plan, part in zip(self.pending, self.plans, shares, strict=False)
        ]
        parts = dict(joint.parts())
        beta = 1 - last.settings.level
        for name in joint.names_of_keys:
            off = joint.half_width(parts[name], beta) if name in parts else None
            measures = "count of each value" if name in parts else "tables that are chosen on the way"
            each = shares[-1] / len(joint.names_of_keys)
            columns.append(Expected(name=name, measures=measures, error=off, mechanism=joint.told, share=each))
        method, reason = joint.chosen
        return Forecast(
            query=str(last.query.text),
            columns=tuple(columns),
            loss=self.loss,
            epsilon=self.loss.epsilon(self.delta),
            delta=float(self.delta),
            level=last.settings.level,
            remaining=remaining,
            notes=(f"Method {method}: {reason}.", *self.notes),
        )

    def run(self, engine: Engine, watcher: Watcher, numbers: Numbers) -> Synthesis:
        """Release everything; by now it has been charged."""
        answers = [run(plan, engine, watcher) for plan in self.plans[:-1]]
        last = self._settled(answers)
        model, measured, private = measured_model(last, engine, watcher)
        joint = last.joint
        assert isinstance(joint, JointSynthesis)  # noqa: S101  the plan was made again from the same request
        method, reason = self.joint.chosen
        return Synthesis(
            table=self.table,
            asked=replace(joint.asked, codings=tuple(map(self._sourced, joint.codings))),
            model=model,
            measured=tuple(measured),
            gaussian=joint.cost.rho is not None,
            loss=self.loss,
            method=method,
            reason=reason,
            steps=self.told,
            level=last.settings.level,
            notes=(*self.notes, *_cautions(joint, model.total, 1 - last.settings.level)),
            parameters={
                **{name: last.parameters[name] for name in ("relation", "unit", "groups", "rows")},
                "delta": float(self.delta),
                "told": joint.told,
                "query": str(last.query.text),
            },
            private=private and all(answer.private for answer in answers),
            numbers=numbers,
        )

    def _sourced(self, one: Coding) -> Coding:
        """Return a column that says whether it was found privately."""
        return replace(one, source="released") if one.name in [other.name for other in self.pending] else one

    def _settled(self, answers: Sequence[Answer]) -> Plan:
        """Return the plan of the synthesis with all columns settled; it must cost what was charged."""
        last = self.plans[-1]
        if not answers:
            return last
        codings = [one.found(answer) for one, answer in zip(self.pending, answers, strict=True)]
        cuts = {
            one.name: Cut(edges=one.edges, nulls=one.nulls) if one.edges else Cut(values=one.values, nulls=one.nulls)
            for one in codings
        }
        asked = replace(self.asked, columns=_cuts(self.asked, self.found, cuts), method=self.joint.chosen[0])
        made = None
        try:
            made = self.planner.remade(Query(self.table, together=asked, text=last.query.text), last.settings)
        except InvalidParameter:
            LOG.exception("a synthesis could not be planned again after its columns were settled")
        if made is None or made.loss.terms != last.loss.terms:
            raise ReleaseFailed
        return made


def _cuts(
    asked: Synthetic, found: Sequence[Coding | Pending], instead: Mapping[str, Cut]
) -> tuple[tuple[str, Cut], ...]:
    """Return how all columns are cut, some of them in other ways than was asked."""
    said = dict(asked.columns or ())
    return tuple((one.name, instead.get(one.name, said.get(one.name, Cut()))) for one in found)


def _check_rules(asked: Synthetic, names: Sequence[str], pending: Sequence[Pending]) -> None:
    """Refuse rules about values that nobody knows yet."""
    unknown = {one.name for one in pending if one.how == "categories"}
    looked = {name for rule in asked.rules for name in names_in(condition(rule, names))}
    looked |= {name for one in asked.determined for name in (one.column, one.by)}
    if wrong := sorted(unknown & looked):
        raise InvalidParameter(f"a rule looks at {wrong[0]}, whose values are found privately. Declare its values.")


def _mechanism(plan: Plan) -> str:
    told = [str(one) for one in plan.ranks.values()]
    return "; ".join(told) or "private choice of groups, and noisy counts"


def _cautions(joint: JointSynthesis, total: float, beta: float) -> list[str]:
    """Say which columns tell nothing or drown in noise, by what was released: values found, and the number of rows."""
    empty = [one.name for one in joint.codings if not one.edges and not one.values]
    told = [
        f"No value of {name} could be shown, so it is missing in every row. Declare its values, or spend more."
        for name in empty
    ]
    drowned = [
        name
        for (name, deviation), size in zip(joint.parts(), joint.lengths, strict=False)
        if name not in empty and deviation and joint.half_width(deviation, beta) > total / size
    ]
    if not drowned:
        return told
    few = f"There are about {total:,.0f} rows. That is few for the values of {', '.join(drowned)}: most of their "
    return [*told, few + "counts are smaller than the noise. Cut them more coarsely, leave some out, or spend more."]


def _text(table: str, asked: Synthetic, found: Sequence[Coding | Pending]) -> str:
    """Return the synthesis in words that resemble SQL, for ledgers and reports."""
    columns = ", ".join(f"{one.name} ({one.told})" if isinstance(one, Coding) else one.told for one in found)
    where = f" WHERE {asked.where}" if asked.where else ""
    rules = f" CHECK ({') AND ('.join(asked.rules)})" if asked.rules else ""
    return f"SYNTHESIZE {columns} FROM {table}{where}{rules} METHOD {asked.method}"

"""PipelineDP (local backend) under our auditor; run by ``bench/rivals_audit.py``, prints JSON."""

from typing import Any

import pipeline_dp as pdp
from audit_case import Case, PrivacyLoss, main

Row = tuple[int, str, Any]
ROWS: list[Row] = [(person, "a", 0.5) for person in range(10)]
PROMISE = "(epsilon, delta)-DP for one privacy id"
RELATION = "add or remove one privacy id"
COUNT, SUM, MEAN = pdp.Metrics.COUNT, pdp.Metrics.SUM, pdp.Metrics.MEAN


def engine(
    rows: list[Row],
    metric: Any,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-10,
    public: tuple[str, ...] | None = ("a",),
) -> dict[str, Any]:
    """Return one metric of each partition."""
    accountant = pdp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
    result = pdp.DPEngine(accountant, pdp.LocalBackend()).aggregate(
        rows,
        pdp.AggregateParams(
            metrics=[metric],
            noise_kind=pdp.NoiseKind.LAPLACE,
            max_partitions_contributed=1,
            max_contributions_per_partition=1,
            min_value=0,
            max_value=1,
        ),
        pdp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: row[2],
        ),
        public_partitions=list(public) if public is not None else None,
    )
    accountant.compute_budgets()
    return {key: found[0] for key, found in result}


def one(metric: Any) -> Any:
    """Return how to release a metric of the partition that is public."""
    return lambda rows: float(engine(rows, metric)["a"])


def cases() -> list[Case]:
    """Return what should hold."""
    shared = {"claims": PrivacyLoss.pure(1), "relation": RELATION, "says": PROMISE}
    more = [*ROWS, (10, "a", 1.0)]
    return [
        Case(name="COUNT", release=one(COUNT), neighbours=(ROWS, more), pair="ten ids and an eleventh", **shared),
        Case(name="SUM", release=one(SUM), neighbours=(ROWS, more), pair="ten halves, and a 1 more", **shared),
        Case(name="MEAN", release=one(MEAN), neighbours=(ROWS, more), pair="ten halves, and a 1 more", **shared),
        Case(
            name="partitions chosen in private",
            release=lambda rows: sorted(engine(rows, COUNT, delta=0.1, public=None)),
            neighbours=(ROWS, [*ROWS, (10, "b", 1.0)]),
            claims=PrivacyLoss.approximate(1, 0.1),
            relation=RELATION,
            pair="ten ids in one partition, and an eleventh in a partition of its own",
            says=PROMISE,
        ),
    ]


if __name__ == "__main__":
    main("pipeline-dp", cases())

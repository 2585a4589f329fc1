"""The fit of a family against a general solver, and rounding that keeps every sum."""

import numpy as np
import pytest
from scipy import optimize

from discreet.synthetic.hierarchy import Cells, Hierarchy, Spine, top_down
from discreet.synthetic.hierarchy.top_down import Clock, Exact, balanced, fit

SPINE = Spine(levels=("a", "b"), leaves=((0, 0), (0, 1), (0, 2), (1, 0)))
HOLES = Cells(attributes={"x": (0, 1), "y": (0, 1, 2)}, rules={"r": lambda c: c["x"] == 0 or c["y"] > 0})


def hierarchy(**more):
    return Hierarchy(
        spine=SPINE,
        cells=HOLES,
        queries={"total": (), "x": ("x",), "all": ("x", "y")},
        rho=0.5,
        relation="add_remove",
        shares={"a": {"total": 1, "all": 1}, "b": {"total": 3, "x": 1, "all": 1}},
        **more,
    )


def by_general_solver(target, times, parent, above, exact):
    """Minimise the same distance over the same tables by sequential quadratic programming.

    The totals of the first two children are enough: the others follow from the sums of cells.
    """
    shape = target.shape

    def distance(flat):
        gap = flat.reshape(shape) - target
        return float((gap * times(gap)).sum()), 2 * times(gap).reshape(-1)

    rules = [
        {"type": "eq", "fun": lambda flat, n=n: flat.reshape(shape)[parent == n].sum(axis=0) - above[n]}
        for n in range(len(above))
    ]
    if exact is not None:
        for g in range(exact.totals.shape[1]):
            part = exact.labels == g
            rules.append(
                {
                    "type": "eq",
                    "fun": lambda flat, part=part, g=g: flat.reshape(shape)[:2, part].sum(axis=1) - exact.totals[:2, g],
                }
            )
    found = optimize.minimize(
        distance,
        np.maximum(target, 0).reshape(-1),
        jac=True,
        bounds=[(0, None)] * target.size,
        constraints=rules,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return found.x.reshape(shape)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bound", [False, True])
def test_families_are_fitted_as_a_general_solver_does(seed, bound, monkeypatch):
    monkeypatch.setattr(top_down, "CLOSE", 1e-7)
    monkeypatch.setattr(top_down, "STEPS", 5000)
    random = np.random.default_rng(seed)
    passes = hierarchy()._estimation()
    parent, whole = SPINE.parents[0], random.poisson(2, (4, HOLES.count))
    above = np.stack([whole[parent == n].sum(axis=0) for n in range(2)])
    exact = Exact(np.zeros(HOLES.count, dtype=np.int64), whole.sum(axis=1, keepdims=True)) if bound else None
    target = whole + random.normal(0, 4, whole.shape)
    fitted = fit(target, passes, 1, parent, above, exact, Clock())
    times = passes.metric(1)[0]
    expected = by_general_solver(target, times, parent, above, exact)

    def distance(table):
        return float(((table - target) * times(table - target)).sum())

    assert fitted.min() >= 0
    assert np.stack([fitted[parent == n].sum(axis=0) for n in range(2)]) == pytest.approx(above, abs=1e-4)
    assert distance(expected) * 0.999 - 1e-3 < distance(fitted) < distance(expected) + 1e-3
    assert fitted == pytest.approx(expected, abs=0.1)
    if exact is not None:
        assert fitted.sum(axis=1) == pytest.approx(exact.totals[:, 0], abs=1e-4)


def test_scaling_gives_both_sums():
    random = np.random.default_rng(0)
    whole = random.poisson(4, (5, 8)) + 1
    groups = np.arange(8) // 4
    rows = np.stack([whole[:, :4].sum(axis=1), whole[:, 4:].sum(axis=1)], axis=1)
    table = balanced(whole * random.uniform(0.8, 1.2, whole.shape), rows, groups, whole.sum(axis=0))
    assert table.sum(axis=0) == pytest.approx(whole.sum(axis=0), abs=1e-9)
    assert table[:, :4].sum(axis=1) == pytest.approx(rows[:, 0], abs=1e-6)


def test_a_clock_tells_and_remembers():
    seen = []
    clock = Clock(deadline=0.0, progress=lambda *what: seen.append(what))
    assert clock.complete
    assert clock.late()
    assert not clock.complete
    clock.tell("fit", 1, 2)
    assert seen == [("fit", 1, 2)]
    assert not Clock().late()

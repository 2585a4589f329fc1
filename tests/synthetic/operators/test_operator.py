"""Every operator beside its matrix, written out entry by entry from the definition."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter, RelationMismatch
from discreet.synthetic.operators import (
    AllRanges,
    Explicit,
    Identity,
    Kronecker,
    Marginals,
    Operator,
    Prefix,
    Total,
    Union,
)
from discreet.synthetic.strategies import Haar, Hierarchical, SquareRoot
from discreet.synthetic.streaming import CompleteNodes

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def identity(n):
    return [[Fraction(i == j) for j in range(n)] for i in range(n)]


def total(n):
    return [[Fraction(1)] * n]


def prefix(n):
    return [[Fraction(j <= i) for j in range(n)] for i in range(n)]


def ranges(n):
    return [[Fraction(a <= j <= b) for j in range(n)] for a in range(n) for b in range(a, n)]


def tree(n, b, root=True):
    width = 1
    while width < n:
        width *= b
    rows, top = [], width
    while width >= 1:
        if root or width < top or n == 1:
            rows += [[Fraction(s <= j < s + width) for j in range(n)] for s in range(0, n, width)]
        width //= b
    return rows


def haar(n):
    rows, level = [[Fraction(1)] * n], [(0, n)]
    while level:
        following = []
        for low, high in level:
            if high - low > 1:
                middle = low + (high - low + 1) // 2
                rows.append([Fraction((low <= j < middle) - (middle <= j < high)) for j in range(n)])
                following += [(low, middle), (middle, high)]
        level = following
    return rows


def complete(n):
    rows = []
    for t in range(1, n + 1):
        width = 1
        while t % width == 0:
            rows.append([Fraction(t - width <= j < t) for j in range(n)])
            width *= 2
    return rows


def root(n):
    c = [Fraction(1)]
    for k in range(1, n):
        c.append(c[-1] * Fraction(2 * k - 1, 2 * k))
    c = [Fraction(round(x * 2**20), 2**20) for x in c]
    return [[c[i - j] if i >= j else Fraction(0) for j in range(n)] for i in range(n)]


def kron(a, b):
    return [[x * y for x in row for y in other] for row in a for other in b]


def times(weight, a):
    return [[Fraction(weight) * x for x in row] for row in a]


def tables(sizes, of, weights):
    cells = list(itertools.product(*map(range, sizes)))
    rows = []
    for attributes, weight in zip(of, weights, strict=True):
        for key in itertools.product(*(range(sizes[i]) for i in attributes)):
            row = [Fraction(weight) * (tuple(cell[i] for i in attributes) == key) for cell in cells]
            rows += [row]
    return rows


GIVEN = [[Fraction(1), Fraction(-1, 2), Fraction(0)], [Fraction(2), Fraction(3, 4), Fraction(-5)]]

CASES = [
    *((Identity(size=n), identity(n)) for n in (1, 2, 5)),
    *((Total(size=n), total(n)) for n in (1, 4)),
    *((Prefix(size=n), prefix(n)) for n in (1, 2, 6)),
    *((AllRanges(size=n), ranges(n)) for n in (1, 2, 3, 4, 7)),
    *((Hierarchical(size=n, branching=b), tree(n, b)) for n in (1, 2, 5, 8, 9) for b in (2, 3)),
    *((Hierarchical(size=n, branching=b, root=False), tree(n, b, False)) for n in (1, 2, 7) for b in (2, 3)),
    *((Haar(size=n), haar(n)) for n in (1, 2, 3, 4, 5, 7, 11)),
    *((CompleteNodes(size=n), complete(n)) for n in (1, 2, 3, 4, 6, 7, 13)),
    *((SquareRoot(size=n), root(n)) for n in (1, 2, 3, 7)),
    (Explicit(matrix=GIVEN), GIVEN),
    (Kronecker(of=(Prefix(size=3), Identity(size=2))), kron(prefix(3), identity(2))),
    (Kronecker(of=(Prefix(size=3), Total(size=2))), kron(prefix(3), total(2))),
    (Kronecker(of=(Prefix(size=3), AllRanges(size=3))), kron(prefix(3), ranges(3))),
    (Kronecker(of=(Total(size=1), Prefix(size=4), Total(size=1))), prefix(4)),
    (Kronecker(of=(Haar(size=3), Explicit(matrix=GIVEN))), kron(haar(3), GIVEN)),
    (
        Kronecker(of=(Prefix(size=2), Identity(size=2), Hierarchical(size=3))),
        kron(kron(prefix(2), identity(2)), tree(3, 2)),
    ),
    (Union(of=(Total(size=3), Identity(size=3))), total(3) + identity(3)),
    (Union(of=(Total(size=3), Prefix(size=3)), weights=(HALF, THIRD)), times(HALF, total(3)) + times(THIRD, prefix(3))),
    (
        Union(of=(Explicit(matrix=GIVEN), Union(of=(Haar(size=3),), weights=(THIRD,))), weights=(2, 3)),
        times(2, GIVEN) + haar(3),
    ),
    (Marginals(sizes=(2, 3), of=((0,), (1,))), tables((2, 3), ((0,), (1,)), (1, 1))),
    (
        Marginals(sizes=(2, 1, 3), of=((), (1,), (0, 2), (2,)), weights=(1, HALF, 2, THIRD)),
        tables((2, 1, 3), ((), (1,), (0, 2), (2,)), (1, HALF, 2, THIRD)),
    ),
    (Marginals(sizes=(2, 2, 2), of=((0, 1), (1, 2))), tables((2, 2, 2), ((0, 1), (1, 2)), (1, 1))),
]
NAMES = [repr(operator)[:60] for operator, _ in CASES]
each = pytest.mark.parametrize(("operator", "rows"), CASES, ids=NAMES)


def moved(rows, p, relation):
    """The p-th power of the largest p-norm of what one record changes, by trying all neighbours."""
    columns = list(zip(*rows, strict=True))
    none = tuple(Fraction(0) for _ in rows)
    pairs = [(c, none) for c in columns] if relation == "add_remove" else itertools.combinations(columns, 2)
    return max((sum(abs(a - b) ** p for a, b in zip(x, y, strict=True)) for x, y in pairs), default=Fraction(0))


@each
def test_is_its_matrix(operator, rows):
    matrix = np.array(rows, dtype=float)
    assert operator.shape == matrix.shape
    assert operator.dense() == pytest.approx(matrix, abs=1e-12)
    rng = np.random.default_rng(1)
    for columns in ((), (3,)):
        x, y = rng.normal(size=(matrix.shape[1], *columns)), rng.normal(size=(matrix.shape[0], *columns))
        assert operator.matvec(x) == pytest.approx(matrix @ x, abs=1e-9)
        assert operator.rmatvec(y) == pytest.approx(matrix.T @ y, abs=1e-9)
    assert operator.gram() == pytest.approx(matrix.T @ matrix, abs=1e-9)
    cover = rng.normal(size=(matrix.shape[1], matrix.shape[1]))
    cover = cover @ cover.T
    assert operator.variances(cover) == pytest.approx(np.diagonal(matrix @ cover @ matrix.T), abs=1e-9)


@each
def test_whole_numbers_stay_whole_and_exact(operator, rows):
    scaled = [[x * operator.denominator for x in row] for row in rows]
    assert all(x.denominator == 1 for row in scaled for x in row)
    rng = np.random.default_rng(2)
    x, y = rng.integers(-(2**31), 2**31, size=operator.shape[1]), rng.integers(-(2**31), 2**31, size=operator.shape[0])
    forward, backward = operator.whole_matvec(x), operator.whole_rmatvec(y)
    assert forward.dtype == backward.dtype == np.int64
    assert forward.tolist() == [sum(int(a) * b for a, b in zip(row, x.tolist(), strict=True)) for row in scaled]
    columns = zip(*scaled, strict=True)
    assert backward.tolist() == [sum(int(a) * b for a, b in zip(c, y.tolist(), strict=True)) for c in columns]
    assert operator.reach >= max(sum(map(abs, row)) for row in scaled)


@each
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_sensitivity_is_the_largest_move_of_any_neighbours(operator, rows, p, relation):
    change = operator.change(p, relation=relation)
    assert change.attained
    assert change.power == moved(rows, p, relation)
    norm = operator.sensitivity(p, relation=relation)
    assert Fraction(norm) ** p >= change.power
    assert float(norm) == pytest.approx(float(change.power) ** (1 / p), rel=1e-12)


@each
def test_column_norms(operator, rows):
    for p in (1, 2):
        expected = [sum(abs(x * operator.denominator) ** p for x in column) for column in zip(*rows, strict=True)]
        assert operator.column_norms(p).tolist() == expected


@each
def test_least_squares_is_the_pseudo_inverse(operator, rows):
    matrix = np.array(rows, dtype=float)
    inverse = np.linalg.pinv(matrix)
    y = np.random.default_rng(3).normal(size=(matrix.shape[0], 2))
    assert operator.solve(y) == pytest.approx(inverse @ y, abs=1e-8)
    assert operator.solve(y[:, 0]) == pytest.approx(inverse @ y[:, 0], abs=1e-8)
    assert operator.covariance() == pytest.approx(inverse @ inverse.T, abs=1e-8)
    if operator.determines_cells:
        assert np.linalg.matrix_rank(matrix) == matrix.shape[1]


@each
def test_what_it_says_of_its_columns(operator, rows):
    assert operator.nonnegative == all(x >= 0 for row in rows for x in row)
    if operator.separable:
        columns = list(zip(*rows, strict=True))
        largest = [moved(rows, p, "add_remove") for p in (1, 2)]
        heavy = [c for c in columns if [sum(abs(x) ** p for x in c) for p in (1, 2)] == largest]
        assert any(not any(a and b for a, b in zip(x, y, strict=True)) for x, y in itertools.combinations(heavy, 2))


@each
def test_is_a_value(operator, rows):
    assert operator == operator
    assert hash(operator) == hash(operator)
    for name in ("size", "of", "matrix", "sizes", "weights"):
        if hasattr(operator, name):
            with pytest.raises((AttributeError, TypeError)):
                setattr(operator, name, getattr(operator, name))


SIGNED = [
    [[1, -1]],
    [[1, -1], [1, 1]],
    [[-2]],
    [[1, -1, 0], [0, HALF, -1]],
    [[3, 0, -3], [0, 2, 0]],
]
SPLIT = [
    (Identity(size=2), identity(2)),
    (Identity(size=3), identity(3)),
    (Hierarchical(size=3, root=False), tree(3, 2, False)),
    (Hierarchical(size=4, root=False), tree(4, 2, False)),
]


@pytest.mark.parametrize("signed", SIGNED, ids=str)
@pytest.mark.parametrize(("split", "rows"), SPLIT, ids=[repr(operator) for operator, _ in SPLIT])
@pytest.mark.parametrize("limit", [1 << 28, 0])
def test_columns_of_both_signs_may_be_further_apart_than_disjoint_ones(signed, split, rows, limit, monkeypatch):
    monkeypatch.setattr("discreet.synthetic.operators.operator.PAIRS", limit)
    given = [[Fraction(x) for x in row] for row in signed]
    for product, matrix in (
        (Kronecker(of=(Explicit(matrix=signed), split)), kron(given, rows)),
        (Kronecker(of=(split, Explicit(matrix=signed))), kron(rows, given)),
        (Kronecker(of=(split, Explicit(matrix=signed), Haar(size=2))), kron(kron(rows, given), haar(2))),
    ):
        for p in (1, 2):
            change, true = product.change(p, relation="replace_one"), moved(matrix, p, "replace_one")
            assert change.power >= true
            assert change.power == true or not change.attained
            assert product.change(p, relation="add_remove").power == moved(matrix, p, "add_remove")


def test_an_author_need_not_say_that_entries_are_negative():
    class Signed(Operator):
        __slots__ = ()
        shape, reach = (1, 3000), 3000

        def whole_matvec(self, x, /):
            return (x[::2] - x[1::2]).sum(axis=0, keepdims=True)

        def whole_rmatvec(self, y, /):
            return np.tile(np.concatenate([y, -y]), (1500, *(1,) * (y.ndim - 1)))

    assert Signed().change(2, relation="replace_one").power >= 4


NINE = Fraction(123456789, 10**9)
HUGE = [
    (Union(of=(Prefix(size=4),), weights=(2**31,)), times(2**31, prefix(4))),
    (Union(of=(Prefix(size=19), Identity(size=19)), weights=(1, NINE)), prefix(19) + times(NINE, identity(19))),
    (Union(of=(Haar(size=3), Identity(size=3)), weights=(1, Fraction(1, 2**31))), haar(3) + times(2**-31, identity(3))),
    (
        Kronecker(of=(Union(of=(Prefix(size=4), Total(size=4)), weights=(1, NINE)), Identity(size=2))),
        kron(prefix(4) + times(NINE, total(4)), identity(2)),
    ),
    (
        Marginals(sizes=(2, 2), of=((0,), (1,)), weights=(2**40, 1)),
        tables((2, 2), ((0,), (1,)), (2**40, 1)),
    ),
    (
        Union(of=(Marginals(sizes=(2, 2), of=((0,), ())),), weights=(2**70,)),
        times(2**70, tables((2, 2), ((0,), ()), (1, 1))),
    ),
    (
        Kronecker(of=(Explicit(matrix=[[2**30, -1]]),) * 3),
        kron(kron(*[[[Fraction(2**30), Fraction(-1)]]] * 2), [[2**30, -1]]),
    ),
]


@pytest.mark.parametrize(("operator", "rows"), HUGE, ids=[repr(operator)[:60] for operator, _ in HUGE])
def test_norms_beyond_64_bits_are_exact(operator, rows):
    for p in (1, 2):
        expected = [sum(abs(x * operator.denominator) ** p for x in column) for column in zip(*rows, strict=True)]
        assert operator.column_norms(p).tolist() == expected
        assert operator.change(p, relation="add_remove").power == moved(rows, p, "add_remove")
        change, true = operator.change(p, relation="replace_one"), moved(rows, p, "replace_one")
        assert change.power >= true
        assert change.power == true or not change.attained


def test_norms_of_any_operator_are_exact():
    class Large(Operator):
        __slots__ = ()
        shape, reach = (3, 2), 2**33

        def whole_matvec(self, x, /):
            return np.concatenate([x * 2**32, x[:1] * 2**32 - x[1:] * 2**32])

        def whole_rmatvec(self, y, /):
            return y[:2] * 2**32 + np.concatenate([y[2:], -y[2:]]) * 2**32

    assert Large().column_norms(2).tolist() == [2**65, 2**65]
    assert Large().change(2, relation="add_remove").power == 2**65
    assert Large().change(2, relation="replace_one").power == 6 * 2**64


def test_a_bound_says_that_it_is_one(monkeypatch):
    wide = Union(of=(Prefix(size=40), Haar(size=40)))
    exact = {p: wide.change(p, relation="replace_one") for p in (1, 2)}
    plain = Union(of=(Prefix(size=40), Hierarchical(size=40)))
    monkeypatch.setattr("discreet.synthetic.operators.operator.PAIRS", 10)
    for p, most in ((1, 2), (2, 4)):
        bound = wide.change(p, relation="replace_one")
        assert not bound.attained
        assert bound.power >= exact[p].power
        assert bound.power == most * wide.change(p, relation="add_remove").power
    assert plain.change(2, relation="replace_one").power == 2 * plain.change(2, relation="add_remove").power


def test_many_cells_are_solved_step_by_step():
    class Plain(Operator):
        __slots__ = ()
        shape, reach = (6000, 3000), 2

        def whole_matvec(self, x, /):
            return np.concatenate([x, 2 * x])

        def whole_rmatvec(self, y, /):
            return y[:3000] + 2 * y[3000:]

    y = np.random.default_rng(4).normal(size=6000)
    assert Plain().solve(y) == pytest.approx((y[:3000] + 2 * y[3000:]) / 5, abs=1e-9)
    with pytest.raises(InvalidParameter, match="Kronecker"):
        Identity.__mro__[1].covariance(Identity(size=5000))


def test_inputs_are_checked():
    work = Prefix(size=3)
    for wrong in ([1, 2], [[1, 2, 3]], ["a", "b", "c"], 5, [1 + 1j, 0, 0]):
        with pytest.raises(InvalidInput) as refusal:
            work.matvec(wrong)
        assert "1j" not in str(refusal.value)
    with pytest.raises(InvalidInput):
        work.rmatvec([1.0] * 4)
    with pytest.raises(RelationMismatch):
        work.sensitivity(1, relation="swap")
    with pytest.raises(InvalidParameter):
        work.sensitivity(3, relation="add_remove")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Identity(size=0),
        lambda: Prefix(size=2.5),
        lambda: AllRanges(size=-1),
        lambda: Total(size="a"),
        lambda: Hierarchical(size=4, branching=1),
        lambda: Hierarchical(size=4, root=1),
        lambda: Kronecker(of=()),
        lambda: Kronecker(of=(3,)),
        lambda: Union(of=()),
        lambda: Union(of=(Identity(size=2), Identity(size=3))),
        lambda: Union(of=(Identity(size=2),), weights=(1, 2)),
        lambda: Union(of=(Identity(size=2),), weights=(0,)),
        lambda: Marginals(sizes=(), of=((),)),
        lambda: Marginals(sizes=(2,), of=()),
        lambda: Marginals(sizes=(2, 2), of=((0, 1), (1, 0))),
        lambda: Marginals(sizes=(2, 2), of=((2,),)),
        lambda: Marginals(sizes=(2, 2), of=((0, 0),)),
        lambda: Marginals(sizes=(2, 2), of=((0,),), weights=(-1,)),
        lambda: Marginals.of_order((2, 2), 3),
        lambda: Explicit(matrix=[]),
        lambda: Explicit(matrix=[1, 2]),
        lambda: Explicit(matrix=[[float("nan")]]),
        lambda: Explicit(matrix=[[0.1]]),
    ],
)
def test_parameters_are_checked(make):
    with pytest.raises(InvalidParameter):
        make()

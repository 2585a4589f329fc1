import importlib
import threading
from contextvars import copy_context
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from noise_reference import MORE, Scripted, ball, drawing_from, laplace_of, precisely

from discreet.noise import discrete_laplace
from discreet.noise.lazy import LazyUniform, largest

laplace_module = importlib.import_module("discreet.noise.discrete_laplace")


@given(st.integers(0, 2**130), st.integers(1, 130), st.data())
def test_rational_thresholds_are_decided_right(word, bits, data):
    """Against every rational: the number is the prefix followed by MORE for ever."""
    prefix = word % 2**bits
    threshold = data.draw(
        st.fractions(0, 1) | st.just(Fraction(prefix, 2**bits)) | st.just(Fraction(prefix + 1, 2**bits))
    )
    number = Fraction(prefix, 2**bits) + Fraction(MORE, (2**64 - 1) * 2**bits)
    with drawing_from(Scripted()):
        assert LazyUniform(prefix, bits).below(lambda: ball(threshold)) is (number < threshold)


@pytest.mark.parametrize("bits", [0, 1, 63, 64])
def test_certain_answers_cost_nothing(bits):
    for prefix in {0, 2**bits - 1}:
        with drawing_from(Scripted()) as source:
            assert LazyUniform(prefix, bits).below(lambda: arb(1))
            assert not LazyUniform(prefix, bits).below(lambda: arb(0))
        assert source.given == 0


def test_dyadic_thresholds_given_as_inexact_balls():
    """A half that ball arithmetic cannot call a half: bits are drawn until the number is on one side."""
    u = LazyUniform(2**62 - 1, 63)
    with drawing_from(Scripted([2**64 - 1, 2**64 - 1])):
        assert u.below(lambda: arb(2).sqrt() / arb(8).sqrt())
    assert u.bits > 63


def test_answers_never_contradict_each_other():
    """One number, many questions: what was drawn to answer the first still holds for the rest."""
    u = LazyUniform()
    with drawing_from(Scripted([2**63, 5])):
        answers = [u.below(lambda k=k: ball(Fraction(k, 1000))) for k in range(1001)]
    assert answers == sorted(answers)
    assert not answers[500]
    assert answers[501]


def test_the_ball_holds_the_number():
    u = LazyUniform()
    with drawing_from(Scripted([123, 2**63])), precisely(300):
        u.refine()
        first = u.ball()
        u.refine()
        assert first.contains(u.ball())
        assert u.ball().contains(ball(Fraction(u.prefix, 2**u.bits) + Fraction(1, 2**200)))


@given(st.integers(-(10**30), 10**30), st.integers(-(10**30), 10**30))
def test_largest(guess, answer):
    asked = []
    assert largest(guess, lambda k: asked.append(k) or k <= answer) == answer
    assert len(asked) < 3 * (abs(guess - answer) + 4).bit_length() + 4


def test_the_working_precision_is_left_alone():
    before = ctx.prec
    LazyUniform(1, 2).below(lambda: arb(2).rsqrt())
    with pytest.raises(ZeroDivisionError):
        LazyUniform().below(lambda: 1 // 0)
    assert ctx.prec == before


def test_threads_that_share_a_working_precision_stay_exact(monkeypatch):
    """The precision is global to the process. Another thread may lower it at any moment: that costs bits, not truth."""
    monkeypatch.setattr(laplace_module, "SLACK", np.inf)
    words = np.random.default_rng(3).integers(0, 2**64, 400, dtype=np.uint64)
    with precisely(200):
        truth = [laplace_of(int(w), 1000) for w in words]
    before, answers = ctx.prec, {}

    def draw(name):
        with drawing_from(Scripted(words)):
            answers[name] = discrete_laplace(1000, size=400).tolist()

    threads = [threading.Thread(target=copy_context().run, args=(draw, i)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    ctx.prec = before
    assert all(answers[i] == truth for i in range(4))

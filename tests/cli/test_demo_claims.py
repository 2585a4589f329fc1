"""The accuracy that the demo promises holds as often as it says."""

import re

import numpy as np

from discreet.cli import demo
from discreet.datasets import population

RUNS = 200
LIMIT = 30
"""More misses of 200, at a chance of 1 in 20 each, happen once in ten million runs."""


def promised(release):
    return int(re.search(r"within ±?([\d,]+)", release.error).group(1).replace(",", ""))


def test_every_answer_is_as_accurate_as_promised():
    size = 2000
    ages = population(size)["age"]
    misses = dict.fromkeys(demo.perform(size).exact, 0)
    for _ in range(RUNS):
        told = demo.perform(size)
        for release in told.releases:
            exact, value = told.exact[release.title], release.value
            if release.title == "Median age":
                split = [abs(np.sum(ages < age) - size / 2) for age in (value, exact)]
                miss = split[0] - split[1]
            elif isinstance(value, dict):
                miss = max(abs(value[name] - exact[name]) for name in exact)
            else:
                miss = abs(value - exact)
            misses[release.title] += miss > promised(release)
    assert max(misses.values()) <= LIMIT, misses


def test_the_cost_is_that_of_what_ran():
    told = demo.perform(500)
    assert told.epsilon == 1.0
    assert told.loss.relation == "replace_one"
    assert {release.relation for release in told.releases} == {"replace_one"}
    assert told.private

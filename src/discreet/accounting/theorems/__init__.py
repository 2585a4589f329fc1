"""Theorems as plain functions on numbers, one file for each: what a paper proves, its conditions, and its value.

Everything returned holds, and is rounded outward; what a theorem does not cover is refused. Approximations are marked
by ``direction=None`` and are never charged. ``discreet.accounting.routes`` sets them side by side for one loss.
"""

from discreet.accounting.theorems.advanced import advanced_composition, sharper_composition
from discreet.accounting.theorems.basic import basic_composition
from discreet.accounting.theorems.central_limit import Approximation, pure_limit, sampled_gaussian_limit
from discreet.accounting.theorems.closed_forms import laplace_epsilon, response_epsilon
from discreet.accounting.theorems.concentrated import (
    bounded_range_to_zcdp,
    largest_rho,
    pure_to_zcdp,
    pure_to_zcdp_classical,
    zcdp_epsilon,
    zcdp_epsilon_classical,
)
from discreet.accounting.theorems.gaussian import gdp_composition, gdp_delta, gdp_epsilon
from discreet.accounting.theorems.groups import group_privacy, group_zcdp
from discreet.accounting.theorems.guarantee import Guarantee
from discreet.accounting.theorems.heterogeneous import heterogeneous_composition
from discreet.accounting.theorems.optimal import optimal_composition, optimal_epsilon
from discreet.accounting.theorems.renyi import RenyiBound, improved_conversion, mironov_conversion, renyi_epsilon
from discreet.accounting.theorems.sampled_gaussian import sampled_gaussian_renyi
from discreet.accounting.theorems.sampled_renyi import poisson_renyi, without_replacement_renyi
from discreet.accounting.theorems.sampling import (
    poisson_sampling,
    poisson_sampling_replace_one,
    sampling_with_replacement,
    sampling_without_replacement,
)
from discreet.accounting.theorems.sgd import sgd_step, sgd_step_in_batch, sgd_training
from discreet.accounting.theorems.shuffling import shuffling
from discreet.accounting.theorems.strategy import strategy_sensitivity

__all__ = [
    "Approximation",
    "Guarantee",
    "RenyiBound",
    "advanced_composition",
    "basic_composition",
    "bounded_range_to_zcdp",
    "gdp_composition",
    "gdp_delta",
    "gdp_epsilon",
    "group_privacy",
    "group_zcdp",
    "heterogeneous_composition",
    "improved_conversion",
    "laplace_epsilon",
    "largest_rho",
    "mironov_conversion",
    "optimal_composition",
    "optimal_epsilon",
    "poisson_renyi",
    "poisson_sampling",
    "poisson_sampling_replace_one",
    "pure_limit",
    "pure_to_zcdp",
    "pure_to_zcdp_classical",
    "renyi_epsilon",
    "response_epsilon",
    "sampled_gaussian_limit",
    "sampled_gaussian_renyi",
    "sampling_with_replacement",
    "sampling_without_replacement",
    "sgd_step",
    "sgd_step_in_batch",
    "sgd_training",
    "sharper_composition",
    "shuffling",
    "strategy_sensitivity",
    "without_replacement_renyi",
    "zcdp_epsilon",
    "zcdp_epsilon_classical",
]

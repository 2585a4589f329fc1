"""Opacus under our auditor; run by ``bench/rivals_audit.py`` in its environment, prints JSON."""

import torch
from audit_case import Case, Check, PrivacyLoss, main
from opacus.accountants import create_accountant
from opacus.optimizers import DPOptimizer

PLANS = [(1.1, 256 / 60000, 14062, 1e-5), (0.6, 0.01, 100, 1e-6), (0.5, 0.001, 1000, 1e-6)]
"""Noise multiplier, sampling rate, steps, delta."""

FLOATS = "Jin et al., Are We There Yet?, S&P 2022 (arXiv 2112.05307), which the docstring of _generate_noise names"


def gradient(records: tuple[float, ...], *, secure: bool = False) -> float:
    """Return the noisy sum of gradients of norm at most 1, of one parameter and one step."""
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = DPOptimizer(
        torch.optim.SGD([parameter], lr=1.0),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        expected_batch_size=1,
        secure_mode=secure,
    )
    parameter.grad_sample = torch.tensor([[record] for record in records])
    optimizer.pre_step()
    return float(parameter.grad[0])


def predicted() -> tuple[bool, str]:
    """Predict the noise from the seed of torch."""
    torch.manual_seed(7)
    seen = gradient((0.0,))
    torch.manual_seed(7)
    guess = float(torch.normal(mean=0.0, std=1.0, size=(1,))[0])
    return seen != guess, f"after torch.manual_seed(7) the noise is {seen:.6f}, and {guess:.6f} was predicted"


def accountant(name: str) -> tuple[bool, str]:
    """Compare an accountant with our certified lower bounds on the same steps."""
    seen, holds = [], True
    for sigma, rate, steps, delta in PLANS:
        least, _ = (steps * PrivacyLoss.gaussian(mu=1 / sigma).sampled(rate)).bounds(delta)
        made = create_accountant(mechanism=name)
        made.history = [(sigma, rate, steps)]
        epsilon = float(made.get_epsilon(delta=delta))
        holds = holds and epsilon >= least
        seen.append(f"sigma {sigma}, rate {rate:.4g}, {steps} steps: {epsilon:.3f}, truth at least {least:.3f}")
    return holds, "; ".join(seen)


def cases() -> list[Case | Check]:
    """Return what should hold, and what is public."""
    steps = {"relation": "add or remove one", "pair": "three plans of DP-SGD, Poisson sampled"}
    return [
        Case(
            name="noisy gradient, all bits",
            release=gradient,
            neighbours=((0.0,), (0.0, 1.0)),
            claims=PrivacyLoss.gaussian(mu=1),
            relation="add or remove one",
            pair="a gradient of 0, and a gradient of norm 1 more",
            says="secure_mode, off by default, is said to protect against float attacks",
            known=FLOATS,
        ),
        Case(
            name="noisy gradient, rounded to 3 digits",
            release=lambda records: round(gradient(records), 3),
            neighbours=((0.0,), (0.0, 1.0)),
            claims=PrivacyLoss.gaussian(mu=1),
            relation="add or remove one",
            pair="a gradient of 0, and a gradient of norm 1 more",
            says="Gaussian noise of the stated multiplier",
        ),
        Check(
            name="noise cannot be predicted",
            compute=predicted,
            relation="none",
            pair="one step, seed known",
            says="PrivacyEngine offers secure_mode, off by default, for a cryptographically strong guarantee",
            known="its documentation of secure_mode, and its FAQ",
        ),
        Check(
            name="GDP accountant is an upper bound",
            compute=lambda: accountant("gdp"),
            says="it warns that it is experimental and can underestimate",
            known="Opacus issue 384 and its own warning; Gopi et al., NeurIPS 2021 (arXiv 2106.02848)",
            **steps,
        ),
        Check(
            name="RDP accountant is an upper bound",
            compute=lambda: accountant("rdp"),
            says="an upper bound",
            **steps,
        ),
        Check(
            name="PRV accountant is an upper bound",
            compute=lambda: accountant("prv"),
            says="an upper bound, up to errors of its grid that it adds",
            **steps,
        ),
    ]


if __name__ == "__main__":
    main("opacus", cases())

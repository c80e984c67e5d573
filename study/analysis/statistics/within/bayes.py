"""The Bayes factor of a paired t test (Rouder et al. 2009, Psychon. Bull. Rev. 16, equation 1).

The prior of the standardised effect is a Cauchy distribution of scale r; the integral over its variance g is
taken over log g, where it is smooth.
"""

from __future__ import annotations

from math import exp, log, log1p, pi, sqrt

from scipy.integrate import quad

SCALE = sqrt(2) / 2
MOST = 700.0
"""Of a logarithm: beyond that, factors are cut off."""


def bayes_factor(t: float, n: int, scale: float = SCALE) -> float:
    """How many times likelier the data are under a difference than under none; t of n differences."""
    df = n - 1
    null = -(df + 1) / 2 * log1p(t * t / df)

    def log_integrand(u: float) -> float:
        g = exp(u)
        wide = 1 + n * g * scale * scale
        prior = -0.5 * log(2 * pi) - 1.5 * u - 1 / (2 * g)
        return prior + u - 0.5 * log(wide) - (df + 1) / 2 * log1p(t * t / (wide * df))

    peak = max(log_integrand(u / 10) for u in range(-60, 200))
    area, _ = quad(
        lambda u: exp(log_integrand(u) - peak), -6, 80, points=[0.0, 6.0], epsabs=0, epsrel=1e-10, limit=400
    )
    return exp(min(max(log(area) + peak - null, -MOST), MOST))

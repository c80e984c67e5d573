"""Compare agents in CuisineWorld with the results of MindAgent's paper (arXiv 2309.09971, Tables 3 to 8).

`paper_benchmark` has the paper's levels, intervals between orders, and published results. `upper_bounds`
computes limits that no agent can exceed. `exact_optimum` finds the best possible result of small cases.
"""

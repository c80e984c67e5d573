"""The benchmark of MindAgent's paper in CuisineWorld (arXiv 2309.09971, Tables 3 to 8).

`paper_benchmark` has its levels, intervals and published counts, `upper_bounds` what no agent can exceed,
and `exact_optimum` the optimum of small cases.
"""

"""Compare agents with the results of MindAgent's paper in CuisineWorld (arXiv 2309.09971, Tables 3 to 8).

`paper_benchmark` has its levels, intervals and published counts. `upper_bounds` computes limits that no agent
can exceed. `exact_optimum` finds the optimum of small cases.
"""

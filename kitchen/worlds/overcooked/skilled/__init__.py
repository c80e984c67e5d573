"""The grids for agents that think in skills (ProAgent, arXiv 2308.11339): what there is to do, what it needs,
how it is told, and the moves that it becomes. Plain Python.
"""

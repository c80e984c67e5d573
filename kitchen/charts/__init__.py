"""Figures as data: what they show, in words and as a table, and how that is drawn. Plain Python, no Django.

A `Chart` (chart.py) is made by whoever has the numbers. `sheet.py` draws it as SVG, PDF and PNG,
`vega.py` writes it as a Vega-Lite specification for browsers, `behind.py` its table as files. `looks.py` has
the colours and shapes of all of them.
"""

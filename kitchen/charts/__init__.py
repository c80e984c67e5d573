"""Charts as data, and how they are drawn.

`chart_data` defines a chart and writes its table. `matplotlib_charts` draws it as SVG, PDF or PNG,
`vega_charts` writes it as Vega-Lite for browsers, and `chart_style` has colours, shapes and layout for
both. Plain Python, no Django.
"""

"""Charts as data, and how they are drawn.

`chart_data` defines a chart and writes its table. `vega_charts` writes it as Vega-Lite, which browsers draw
on pages and `chart_drawing` as SVG, PDF or PNG. `chart_style` has colours, shapes and layout. Plain Python,
no Django.
"""

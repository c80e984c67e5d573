"""Define charts as data, and draw them.

`chart_data` defines a chart and writes its table. `vega_charts` writes the chart as Vega-Lite, for browsers.
`chart_drawing` draws it as SVG, PDF or PNG. `chart_style` has colours, shapes and layout. No Django.
"""

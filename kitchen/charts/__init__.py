"""Define charts as data, and draw them for browsers and for files. Nothing here imports Django.

- `chart_data` defines a chart and writes its table.
- `vega_charts` writes a chart as Vega-Lite JSON, which browsers draw.
- `chart_drawing` draws a chart as SVG, PDF or PNG.
- `chart_style` defines colours, shapes and layout.
"""

"""Build the Vega-Lite module that draws charts in browsers."""

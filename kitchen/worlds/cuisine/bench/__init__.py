"""CuisineWorld as MindAgent's paper has agents alone play it (arXiv 2309.09971, Tables 3 to 8).

`bench` is what experiments ask, `paper` has the published counts, `bounds` what no dispatcher can pass,
`optimum` and `optimum_model` the exact optimum of small cases.
"""

"""Run live play in real time: clock processes compute the steps (ticks), and websockets send them to pages.
"""

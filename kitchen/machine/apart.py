"""TEMPORARY"""

from concurrent.futures import ThreadPoolExecutor

_p = ThreadPoolExecutor(1)


def submit(function, *arguments):
    return _p.submit(function, *arguments)

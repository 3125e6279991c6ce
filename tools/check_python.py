"""Refuse a Python that is too old, in words; runs before anything is installed."""

import sys

NEEDED = (3, 11)

if sys.version_info < NEEDED:
    found = ".".join(map(str, sys.version_info[:3]))
    sys.exit(f"Annotate needs Python 3.11 or newer; this is {found}. Name another one: make run PYTHON=python3.12")

"""Annotate: label market charts, train on the labels, watch the model learn live. This package is the web side."""

__version__ = "0.1.0"

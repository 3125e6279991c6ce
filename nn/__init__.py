"""The learning side: models, training and live learning. No flask, no SQL, no import of `annotate`."""

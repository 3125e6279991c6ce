"""The learning side: models, training and live learning. No flask, no SQL, no import of `annotate`."""

import os

# MKL rounds a product differently where its inputs lie differently in memory, unless it is told not to. A run must give
# the same bits beside another one, and after a resume; MKL reads this at its first product.
os.environ.setdefault("MKL_CBWR", "AUTO")

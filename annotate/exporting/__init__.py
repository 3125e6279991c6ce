"""Dataset snapshots and export formats."""

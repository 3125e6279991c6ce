"""Every blueprint of the product, for app.py to register."""

from annotate.views import annotations as marks
from annotate.views import (
    datasets,
    feeding,
    indicators,
    label_sets,
    models,
    pages,
    replay,
    reviewed,
    run_figures,
    runs,
    series,
    suggestions,
    system,
    together,
    uploads,
    view_states,
    workspace,
    worth,
)

MARKS = (marks.bp, label_sets.bp, suggestions.bp, reviewed.bp, replay.bp, worth.bp, together.bp)
CHART = (pages.bp, system.bp, series.bp, uploads.bp, feeding.bp, indicators.bp, view_states.bp)
LEARNING = (models.bp, runs.bp, run_figures.bp, datasets.bp, workspace.bp)
BLUEPRINTS = (*CHART, *MARKS, *LEARNING)

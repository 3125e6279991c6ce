"""The parts of the workbench beside marks and series, one blueprint each."""

from __future__ import annotations

from annotate.views import indicators, replay, reviewed, together, view_states, worth

BLUEPRINTS = (reviewed.bp, replay.bp, worth.bp, indicators.bp, view_states.bp, together.bp)

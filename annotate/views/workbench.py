"""The parts of the workbench beside marks and series, one blueprint each."""

from __future__ import annotations

from annotate.views import replay, reviewed

BLUEPRINTS = (reviewed.bp, replay.bp)

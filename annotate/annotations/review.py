"""A second person's verdict on a mark; the mark itself and its correction are both kept. Pure; no database."""

from __future__ import annotations

from annotate.annotations.draft import MAX_COMMENT
from annotate.annotations.fields import Fields
from annotate.annotations.geometry import Json

VERDICTS = ("accept", "correct", "reject")
REVIEW_FIELDS = ("verdict", "by", "at", "comment", "correction")
MAX_AUTHOR = 100


def read_review(fields: Fields) -> Json | None:
    """Read field `review` of a stored mark; None where nobody looked at it yet."""
    if not fields.has("review"):
        return None
    review = fields.object("review")
    review.only(REVIEW_FIELDS)
    return {
        **read_verdict(review),
        "by": review.text("by", MAX_AUTHOR),
        "at": review.time("at"),
    }


def read_verdict(fields: Fields) -> Json:
    """Read what a reviewer sends: the verdict, a comment, and for `correct` the id of the mark that is right."""
    verdict = fields.choice("verdict", VERDICTS)
    correction = fields.uuid("correction") if fields.has("correction") else None
    if (correction is not None) != (verdict == "correct"):
        raise fields.bad("correction", "names the id of the right mark where the verdict is correct, and only there")
    return {"verdict": verdict, "comment": fields.text("comment", MAX_COMMENT, default=""), "correction": correction}

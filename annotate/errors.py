"""The error tree and the one JSON error shape.

AnnotateError
├── InvalidInput        422  a value that cannot be taken; names it and the way out
│   └── NeedsAnswer     422  a file that leaves a question open; `details.questions` holds it
├── NotAuthorised       401  no or a wrong token
├── Refused             403  a foreign host or origin
├── NotFound            404
├── Conflict            409  a stale revision, or a state that does not allow the call
├── TooLarge            413
├── StorageFailed       507  the disk is full or not writable
└── TrainerUnavailable  503  the worker process cannot take the command now
"""

from __future__ import annotations

from typing import Any

JsonObject = dict[str, Any]


class AnnotateError(Exception):
    """Base of every error that a person may see; `message` is written for them."""

    status = 500
    code = "internal"

    def __init__(self, message: str, *, code: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.details = details

    def to_json(self) -> JsonObject:
        """Give the one error shape, `{"error": {"code", "message", "details"}}`."""
        return {"error": {"code": self.code, "message": self.message, "details": self.details}}


class InvalidInput(AnnotateError):
    """A value that cannot be taken."""

    status = 422
    code = "invalid_input"


class NeedsAnswer(InvalidInput):
    """A file that can be read in more than one way; `details["questions"]` lists them with likely answers."""

    code = "needs_answer"


class NotAuthorised(AnnotateError):
    """No token, or a wrong one."""

    status = 401
    code = "not_authorised"


class Refused(AnnotateError):
    """A foreign Host or Origin."""

    status = 403
    code = "refused"


class NotFound(AnnotateError):
    """The named thing does not exist."""

    status = 404
    code = "not_found"


class Conflict(AnnotateError):
    """The state does not allow the call; `details` hold both versions where there are two."""

    status = 409
    code = "conflict"


class TooLarge(AnnotateError):
    """A body above the limit in the settings."""

    status = 413
    code = "too_large"


class StorageFailed(AnnotateError):
    """The disk is full or not writable; nothing was stored."""

    status = 507
    code = "storage_failed"


class TrainerUnavailable(AnnotateError):
    """The worker process cannot take the command now."""

    status = 503
    code = "trainer_unavailable"

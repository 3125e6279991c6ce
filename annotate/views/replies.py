"""How every answer looks when something went wrong: one JSON error shape, whatever raised."""

from __future__ import annotations

import errno
import logging

from flask import Flask, Response, jsonify
from sqlalchemy.exc import OperationalError
from werkzeug.exceptions import HTTPException

from annotate.data_folder import reason
from annotate.errors import AnnotateError, StorageFailed

log = logging.getLogger(__name__)

Reply = tuple[Response, int]


def register_errors(app: Flask) -> None:
    """Make the app answer each kind of error in the one shape."""
    app.register_error_handler(AnnotateError, _annotate_error)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(OSError, _os_error)
    app.register_error_handler(OperationalError, _database_error)
    app.register_error_handler(Exception, _unexpected)


def _annotate_error(error: AnnotateError) -> Reply:
    return jsonify(error.to_json()), error.status


def _http_error(error: HTTPException) -> Reply:
    name = (error.name or "error").lower().replace(" ", "_")
    body = {"error": {"code": name, "message": error.description or error.name, "details": {}}}
    return jsonify(body), error.code or 500


def _os_error(error: OSError) -> Reply:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
        return _annotate_error(StorageFailed(f"nothing was stored: {reason(error)}"))
    return _unexpected(error)


def _database_error(error: OperationalError) -> Reply:
    if "full" in str(error.orig):
        return _annotate_error(StorageFailed("nothing was stored: the disk is full; free some space and try again"))
    return _unexpected(error)


def _unexpected(error: Exception) -> Reply:
    log.error("unexpected error", exc_info=error)
    body = {
        "code": "internal",
        "message": f"unexpected {type(error).__name__}; the log has the whole story",
        "details": {},
    }
    return jsonify({"error": body}), 500

"""The guard before Flask and Socket.IO: Host, Origin, credentials, body size, headers. Deny by default."""

from __future__ import annotations

import hmac
import json
import os
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from annotate.errors import AnnotateError, NotAuthorised, Refused, TooLarge
from annotate.settings import LOOPBACK, Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Headers = list[tuple[str, str]]

MIB = 1024 * 1024
MAX_JSON_BYTES = 16 * MIB
PUBLIC = ("/health", "/favicon.ico")
SOCKET_PATH = "/socket.io"
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
SECURITY_HEADERS: Headers = [
    ("Content-Security-Policy", CONTENT_SECURITY_POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
]
LOCKED_PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
    "<title>Annotate: locked</title><body style='font:16px system-ui;max-width:34em;margin:15vh auto;padding:0 1em'>"
    "<h1>This page needs its link</h1><p>Open the link that Annotate printed when it started; it ends with "
    "<code>?token=…</code>. It stands in the terminal in which the server runs.</p>"
)


@dataclass(frozen=True, slots=True)
class Credentials:
    """The access token of this instance and the cookie that a browser gets for it."""

    token: str
    cookie_name: str

    @property
    def cookie_value(self) -> str:
        """Give what the cookie holds: derived from the token, so that the cookie does not reveal it."""
        return hmac.new(self.token.encode(), b"annotate browser cookie", "sha256").hexdigest()

    def has_bearer(self, environ: WSGIEnvironment) -> bool:
        """Tell whether the request carries `Authorization: Bearer <token>`."""
        scheme, _, given = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        return scheme.lower() == "bearer" and _equal(given.strip(), self.token)

    def has_cookie(self, environ: WSGIEnvironment) -> bool:
        """Tell whether the request carries this instance's cookie."""
        try:
            morsel = SimpleCookie(environ.get("HTTP_COOKIE", "")).get(self.cookie_name)
        except CookieError:
            return False
        return morsel is not None and _equal(morsel.value, self.cookie_value)

    def cookie_header(self) -> tuple[str, str]:
        """Give the Set-Cookie header that lets a browser in for a year."""
        attributes = "Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000"
        return "Set-Cookie", f"{self.cookie_name}={self.cookie_value}; {attributes}"


def credentials(settings: Settings) -> Credentials:
    """Take the token of the settings, else the one kept in the data folder, else make one and keep it (0600)."""
    return Credentials(settings.token or _kept_token(settings.data_dir / "token"), f"annotate_{settings.port}")


def is_authorised(environ: WSGIEnvironment) -> bool:
    """Tell whether the guard found good credentials on this request."""
    return bool(environ.get("annotate.authorised"))


class Guard:
    """WSGI middleware that lets nothing through that is not meant to reach the application."""

    def __init__(self, application: WSGIApplication, settings: Settings, credentials: Credentials) -> None:
        self._application = application
        self._credentials = credentials
        self._hosts = LOOPBACK | {settings.host} | set(settings.allowed_hosts)
        self._max_upload = settings.max_upload_mb * MIB

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Check, then pass on; a refusal never reaches Flask or Socket.IO."""
        try:
            self._check_host(environ)
            self._check_origin(environ)
            _check_size(environ, self._max_upload)
            if _offers_token(environ):
                return self._exchange(environ, start_response)
            self._check_credentials(environ)
        except AnnotateError as error:
            return _refusal(error, environ, start_response)
        return self._application(environ, _with_headers(start_response))

    def _check_host(self, environ: WSGIEnvironment) -> None:
        host = environ.get("HTTP_HOST", "")
        name = _host_name(host)
        if name not in self._hosts:
            raise Refused(
                f"Host {host!r} is not this server; allow it with ANNOTATE_ALLOWED_HOSTS", code="foreign_host"
            )

    def _check_origin(self, environ: WSGIEnvironment) -> None:
        if environ["REQUEST_METHOD"] in ("GET", "HEAD") and not _is_socket(environ):
            return
        origin = environ.get("HTTP_ORIGIN")
        if origin is None:
            if not self._credentials.has_bearer(environ):
                raise Refused("a request without Origin needs `Authorization: Bearer <token>`", code="no_origin")
        elif origin != f"{environ['wsgi.url_scheme']}://{environ.get('HTTP_HOST', '')}":
            raise Refused(f"Origin {origin!r} is foreign to this server", code="foreign_origin")

    def _check_credentials(self, environ: WSGIEnvironment) -> None:
        authorised = self._credentials.has_bearer(environ) or self._credentials.has_cookie(environ)
        environ["annotate.authorised"] = authorised
        if not authorised and not _is_public(environ):
            raise NotAuthorised("open the link that the server printed, or send `Authorization: Bearer <token>`")

    def _exchange(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        given = parse_qs(environ.get("QUERY_STRING", "")).get("token", [""])[0]
        if not _equal(given, self._credentials.token):
            raise NotAuthorised("this link carries a wrong token; use the one that the server printed last")
        start_response("303 See Other", [("Location", "/"), ("Content-Length", "0"), self._credentials.cookie_header()])
        return [b""]


def _kept_token(path: Path) -> str:
    try:
        kept = path.read_text("ascii").strip()
    except FileNotFoundError:
        kept = ""
    if kept:
        return kept
    made = secrets.token_urlsafe(32)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(made)
    return made


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), expected.encode())


def _host_name(host: str) -> str:
    # urlsplit knows the brackets of an IPv6 address; userinfo or a path in a Host header is an attack, not a name.
    if any(sign in host for sign in "@/\\?#"):
        return ""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_socket(environ: WSGIEnvironment) -> bool:
    return str(environ.get("PATH_INFO", "")).startswith(SOCKET_PATH)


def _is_public(environ: WSGIEnvironment) -> bool:
    path = environ.get("PATH_INFO", "")
    return path in PUBLIC or path.startswith("/static/")


def _offers_token(environ: WSGIEnvironment) -> bool:
    offered = environ.get("PATH_INFO") == "/" and "token" in parse_qs(environ.get("QUERY_STRING", ""))
    return offered and environ["REQUEST_METHOD"] == "GET"


def _check_size(environ: WSGIEnvironment, max_upload: int) -> None:
    upload = environ.get("CONTENT_TYPE", "").startswith(("multipart/", "application/octet-stream"))
    limit = max_upload if upload else MAX_JSON_BYTES
    length = environ.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > limit:
        raise TooLarge(f"the body has {length} bytes; the limit is {limit}", limit=limit)


def _refusal(error: AnnotateError, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    wants_page = environ["REQUEST_METHOD"] == "GET" and "text/html" in environ.get("HTTP_ACCEPT", "")
    body = LOCKED_PAGE.encode() if wants_page and error.status == 401 else json.dumps(error.to_json()).encode()
    kind = "text/html; charset=utf-8" if body[:1] == b"<" else "application/json"
    headers = [("Content-Type", kind), ("Content-Length", str(len(body))), ("Cache-Control", "no-store")]
    _with_headers(start_response)(f"{error.status} Refused", headers)
    return [body]


def _with_headers(start_response: StartResponse) -> Callable[..., Any]:
    def start(status: str, headers: Headers, *rest: Any) -> Any:
        given = {name.lower() for name, _ in headers}
        return start_response(
            status, headers + [pair for pair in SECURITY_HEADERS if pair[0].lower() not in given], *rest
        )

    return start

"""The pages and their assets; assets have a versioned address and never change under it."""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from importlib.resources import files
from pathlib import Path

from flask import Blueprint, Response, render_template, send_from_directory

from annotate import __version__

bp = Blueprint("pages", __name__)

STATIC = Path(__file__).resolve().parents[2] / "static"
SCRIPT = "text/javascript"  # said here, since some systems' own tables say text/plain, which browsers refuse
IMMUTABLE = "public, max-age=31536000, immutable"
PYTHON_PARTS = (
    "Flask",
    "Flask-SocketIO",
    "SQLAlchemy",
    "alembic",
    "pandas",
    "pyarrow",
    "numpy",
    "scipy",
    "scikit-learn",
    "plotly",
    "ta-lib",
    "torch",
    "safetensors",
)
BROWSER_PARTS = (("lightweight-charts", "Apache-2.0"), ("socket.io-client", "MIT"), ("plotly.js", "MIT"))


def asset_version() -> str:
    """Give a short hash over every file below static/, so that a change of any changes every address."""
    digest = hashlib.sha256(__version__.encode())
    for path in sorted(p for p in STATIC.rglob("*") if p.is_file()):
        digest.update(str(path.relative_to(STATIC)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


VERSION = asset_version()


@bp.get("/")
def chart() -> str:
    """Show the workbench."""
    return render_template("chart.html", version=VERSION, app_version=__version__)


@bp.get("/about")
def about() -> str:
    """Show the version, the licences and the attribution that the chart library asks for."""
    python_parts = [(name, *_licence(name)) for name in PYTHON_PARTS]
    return render_template(
        "about.html", version=VERSION, app_version=__version__, python_parts=python_parts, browser_parts=BROWSER_PARTS
    )


@bp.get("/static/<version>/plotly.min.js")
def plotly(version: str) -> Response:
    """Serve the bundle that comes with the plotly package, so that both sides always match."""
    return _cached(send_from_directory(str(files("plotly") / "package_data"), "plotly.min.js"), version)


@bp.get("/static/<version>/<path:name>")
def asset(version: str, name: str) -> Response:
    """Serve a file below static/."""
    return _cached(
        send_from_directory(STATIC, name, mimetype=SCRIPT if name.endswith((".js", ".mjs")) else None), version
    )


@bp.get("/favicon.ico")
def favicon() -> Response:
    """Serve the icon that browsers ask for by themselves."""
    return send_from_directory(STATIC, "icon.svg", mimetype="image/svg+xml")


def _cached(response: Response, version: str) -> Response:
    # A page from before an upgrade still gets its files, but must not keep them under the old address.
    response.headers["Cache-Control"] = IMMUTABLE if version == VERSION else "no-store"
    return response


def _licence(name: str) -> tuple[str, str]:
    try:
        facts = metadata(name)
    except PackageNotFoundError:
        return "", ""
    stated = _field(facts, "License-Expression") or _classifier(facts) or _field(facts, "License")
    return facts["Version"], stated.splitlines()[0][:60] if stated else ""


def _field(facts: PackageMetadata, name: str) -> str:
    found = facts.get_all(name)
    return str(found[0]) if found else ""


def _classifier(facts: PackageMetadata) -> str:
    classifiers = facts.get_all("Classifier") or []
    return ", ".join(c.rsplit(" :: ", 1)[-1] for c in classifiers if c.startswith("License :: "))

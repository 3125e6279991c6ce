"""Datasets over HTTP: previewed, made, listed, compared, renamed, downloaded, removed."""

from __future__ import annotations

import tempfile

from flask import Blueprint, Response, request, send_file

from annotate.annotations.fields import Fields, query_number
from annotate.annotations.veil import Veil
from annotate.exporting.archive import file_name
from annotate.exporting.builds import bare
from annotate.exporting.dataset import preview, remove_files, snapshot
from annotate.exporting.formats import build, formats_json, get_format
from annotate.exporting.recipe import NAMES as RECIPE
from annotate.exporting.recipe import Recipe
from annotate.exporting.sources import changes_since, changes_to_dataset, losses, open_source
from annotate.models import Dataset, Json
from annotate.store.datasets import change_dataset, dataset_to_json, delete_dataset, get_dataset, list_datasets
from annotate.store.runs import MAX_ID
from annotate.timeframe import close_of
from annotate.views.services import author, services
from annotate.views.veil import refusal, veil_of

bp = Blueprint("datasets", __name__, url_prefix="/api")

MAX_NAME = 200
MAX_NOTE = 10_000
OPTIONS = {"sequence_length": (2, 8192), "stride": (1, 100_000)}


@bp.get("/datasets")
def get_datasets() -> Json:
    """List the datasets that people made, newest first; `?series_id` for those of one series."""
    series_id = query_number(request.args, "series_id", 1, MAX_ID)
    with services().database.read() as session:
        every = list_datasets(session, series_id)
        return {"items": [dataset_to_json(dataset) for dataset in every if is_shown(dataset)]}


@bp.post("/datasets")
def post_dataset() -> tuple[Json, int]:
    """Store a series with its marks as they are now."""
    parts = services()
    series_id, wanted = _wanted()
    where = (parts.database, parts.candles, parts.settings.data_dir, series_id)
    return {"dataset": dataset_to_json(snapshot(*where, kept=True, **wanted))}, 201


@bp.post("/datasets/builds")
def post_build() -> tuple[Json, int]:
    """Begin to make a dataset in the background."""
    series_id, wanted = _wanted()
    return {"build": services().exports.make(series_id, **wanted)}, 202


@bp.get("/datasets/builds/<int:build_id>")
def get_build(build_id: int) -> Json:
    """Give a build with its state and progress, and the dataset once it is finished."""
    return {"build": _shown_build(services().exports.making(build_id))}


@bp.delete("/datasets/builds/<int:build_id>")
def cancel_build(build_id: int) -> Json:
    """Call a build off; nothing of it is stored."""
    _shown_build(services().exports.making(build_id))
    return {"build": _shown_build(services().exports.cancel_making(build_id))}


@bp.post("/datasets/preview")
def preview_dataset() -> Json:
    """Say what a dataset made now would hold; nothing is stored."""
    fields = Fields(request.get_json())
    fields.only(("series_id", *RECIPE))
    parts, series_id = services(), fields.whole("series_id", 1, MAX_ID)
    return preview(parts.database, parts.candles, series_id, Recipe.from_fields(fields), _replaying(series_id))


@bp.get("/datasets/<int:dataset_id>")
def get_one_dataset(dataset_id: int) -> Json:
    """Give a dataset with its manifest."""
    return {"dataset": dataset_to_json(_shown(dataset_id))}


@bp.patch("/datasets/<int:dataset_id>")
def patch_dataset(dataset_id: int) -> Json:
    """Change the name or the note of a dataset; what it holds never changes."""
    fields = Fields(request.get_json())
    fields.only(("name", "note"))
    name = fields.text("name", MAX_NAME) if fields.has("name") else None
    note = fields.text("note", MAX_NOTE, default="") if fields.has("note") else None
    with services().database.write() as session:
        return {"dataset": dataset_to_json(change_dataset(session, dataset_id, name, note))}


@bp.delete("/datasets/<int:dataset_id>")
def remove_dataset(dataset_id: int) -> Json:
    """Remove a dataset and its files, unless a run still needs them."""
    with services().database.write() as session:
        delete_dataset(session, dataset_id)
    remove_files(services().settings.data_dir, dataset_id)
    return {"deleted": dataset_id}


@bp.get("/datasets/<int:dataset_id>/changes")
def get_changes(dataset_id: int) -> Json:
    """Say what changed since this dataset: on its series as it is now, or up to the dataset that `?to` names."""
    later = query_number(request.args, "to", 1, MAX_ID)
    parts = services()
    if later is not None:
        return changes_to_dataset(parts.database, parts.settings.data_dir, dataset_id, later)
    return changes_since(parts.database, parts.candles, parts.settings.data_dir, dataset_id)


@bp.get("/datasets/<int:dataset_id>/formats")
def get_formats(dataset_id: int) -> Json:
    """List the formats, each with what it cannot hold of this dataset."""
    _shown(dataset_id)
    lost = losses(open_source(services().database, services().settings.data_dir, dataset_id))
    return {"items": [{**each, "lost": lost[each["name"]]} for each in formats_json()]}


@bp.get("/datasets/<int:dataset_id>/download")
def download_dataset(dataset_id: int) -> Response:
    """Give the dataset as a zip, of its own files or in `?format`; the same content gives the same bytes."""
    name = request.args.get("format", "dataset")
    options = {option: query_number(request.args, option, *OPTIONS[option]) for option in get_format(name).options}
    parts, dataset = services(), _shown(dataset_id)
    given = {option: number for option, number in options.items() if number is not None}
    source = open_source(parts.database, parts.settings.data_dir, dataset_id, given)
    source = source if veil_of(dataset.series_id).is_open else bare(source)
    file = tempfile.TemporaryFile(dir=parts.settings.data_dir / "exports")  # noqa: SIM115 - the answer closes it
    build(name, source, file, lambda _share: None)
    file.seek(0)
    called = file_name(dataset.name if name == "dataset" else f"{dataset.name} {name}", dataset.hash)
    return send_file(file, mimetype="application/zip", as_attachment=True, download_name=called, max_age=0)


@bp.post("/datasets/<int:dataset_id>/exports")
def post_export(dataset_id: int) -> tuple[Json, int]:
    """Begin an export in the background."""
    fields = Fields(request.get_json())
    name = fields.text("format", MAX_NAME)
    options = get_format(name).options
    fields.only(("format", *options))
    given = {option: fields.whole(option, *OPTIONS[option]) for option in options if fields.has(option)}
    cursor = veil_of(_shown(dataset_id).series_id).cursor
    return {"export": services().exports.start(dataset_id, name, given, cursor)}, 202


@bp.get("/exports/<int:export_id>")
def get_export(export_id: int) -> Json:
    """Give an export with its state and progress."""
    return {"export": _shown_export(export_id)}


@bp.delete("/exports/<int:export_id>")
def cancel_export(export_id: int) -> Json:
    """Call an export off."""
    _shown_export(export_id)
    return {"export": services().exports.cancel(export_id)}


@bp.get("/exports/<int:export_id>/download")
def download_export(export_id: int) -> Response:
    """Give the file of a finished export."""
    _shown_export(export_id)
    path, called = services().exports.file(export_id)
    return send_file(path, mimetype="application/zip", as_attachment=True, download_name=called, max_age=0)


def _wanted() -> tuple[int, Json]:
    """Give the series and what its new dataset is to be: name, note, recipe."""
    fields = Fields(request.get_json())
    fields.only(("series_id", "name", "note", *RECIPE))
    series_id, name = fields.whole("series_id", 1, MAX_ID), fields.text("name", MAX_NAME)
    note = fields.text("note", MAX_NOTE, default="")
    how = {"note": note, "recipe": Recipe.from_fields(fields), "veil": _replaying(series_id)}
    return series_id, {"name": name, **how}


def _replaying(series_id: int) -> Veil | None:
    """Give the veil of the author's replay, at whose cursor a dataset made now is cut; None where there is none."""
    veil = veil_of(series_id)
    return veil if veil.cursor is not None else None


def _shown(dataset_id: int) -> Dataset:
    """Give a dataset that hides nothing from the author; raise NotFound, or Conflict for what reaches past a replay."""
    with services().database.read() as session:
        dataset = get_dataset(session, dataset_id)
    if not is_shown(dataset):
        raise refusal(dataset.series_id, veil_of(dataset.series_id))
    return dataset


def is_shown(dataset: Dataset) -> bool:
    """Tell whether nothing in a dataset is hidden from the author now."""
    veil = veil_of(dataset.series_id)
    if veil.is_open or veil.cursor is None or veil.hides is not None:
        return veil.is_open
    manifest, last = dataset.manifest, dataset.manifest["candles"]["last"]
    ends = [each["end"] for name in ("reviewed_ranges", "rejected") for each in manifest.get(name, ())]
    ends += [] if last is None else [close_of(last, manifest["timeframe"])]
    if max(ends, default=0) > veil.cursor:
        return False
    held = open_source(services().database, services().settings.data_dir, dataset.id).dataset
    return all(veil.shows(mark) for mark in held.annotations)


def _shown_build(build: Json) -> Json:
    """Give the build of a dataset; raise Conflict where the dataset reaches past a replay of its author."""
    if build["dataset"] is not None:
        _shown(build["dataset"]["id"])
    return build


def _shown_export(export_id: int) -> Json:
    """Give an export; in a replay, raise Conflict for one that was asked for before it, or later in it."""
    exports = services().exports
    export = exports.get(export_id)
    if export["dataset_id"] is None:
        for series_id, veil in services().veils.hidden_series(author()).items():
            raise refusal(series_id, veil)
        return export
    veil = veil_of(_shown(export["dataset_id"]).series_id)
    asked_at = exports.cursor_of(export_id)
    if veil.cursor is not None and (asked_at is None or asked_at > veil.cursor):
        raise refusal(_shown(export["dataset_id"]).series_id, veil)
    return export

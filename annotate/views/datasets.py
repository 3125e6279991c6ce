"""Datasets over HTTP: made, listed, downloaded, removed."""

from __future__ import annotations

from flask import Blueprint, Response, request, send_file

from annotate.annotations.fields import Fields
from annotate.errors import NotFound
from annotate.exporting.archive import file_name, write_zip
from annotate.exporting.dataset import dataset_path, remove_files, snapshot
from annotate.models import Json
from annotate.store.datasets import dataset_to_json, delete_dataset, get_dataset, list_datasets
from annotate.views.services import services

bp = Blueprint("datasets", __name__, url_prefix="/api/datasets")

MAX_NAME = 200


@bp.get("")
def get_datasets() -> Json:
    """List the datasets that people made, newest first."""
    with services().database.read() as session:
        return {"items": [dataset_to_json(dataset) for dataset in list_datasets(session)]}


@bp.post("")
def post_dataset() -> tuple[Json, int]:
    """Store a series with its marks as they are now."""
    fields = Fields(request.get_json())
    fields.only(("series_id", "name"))
    series_id, name = fields.whole("series_id", 1, 2**53), fields.text("name", MAX_NAME)
    parts = services()
    data_dir = parts.settings.data_dir
    dataset = snapshot(parts.database, parts.candles, data_dir, series_id, name=name, kept=True)
    return {"dataset": dataset_to_json(dataset)}, 201


@bp.get("/<int:dataset_id>")
def get_one_dataset(dataset_id: int) -> Json:
    """Give a dataset with its manifest."""
    with services().database.read() as session:
        return {"dataset": dataset_to_json(get_dataset(session, dataset_id))}


@bp.delete("/<int:dataset_id>")
def remove_dataset(dataset_id: int) -> Json:
    """Remove a dataset and its files, unless a run still needs them."""
    with services().database.write() as session:
        delete_dataset(session, dataset_id)
    remove_files(services().settings.data_dir, dataset_id)
    return {"deleted": dataset_id}


@bp.get("/<int:dataset_id>/download")
def download_dataset(dataset_id: int) -> Response:
    """Give the dataset as a zip of five files; the same content gives the same bytes."""
    with services().database.read() as session:
        dataset = get_dataset(session, dataset_id)
    folder = dataset_path(services().settings.data_dir, dataset_id)
    if not folder.is_dir():
        raise NotFound(f"the files of dataset {dataset_id} are gone from the data folder; restore them from a backup")
    file = write_zip(folder, folder.parent)
    name = file_name(dataset.name, dataset.hash)
    return send_file(file, mimetype="application/zip", as_attachment=True, download_name=name, max_age=0)

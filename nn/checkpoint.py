"""Checkpoints: model.safetensors + meta.json (+ state.pt, own runs only). Whole or absent; nothing unpickles."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import pickle
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load as parse_tensors
from safetensors.torch import save as format_tensors
from torch import Tensor

from nn.config import ConfigError, ModelConfig
from nn.dataset_dir import sync_folder, write_whole
from nn.features import FEATURES
from nn.models import skeleton
from nn.snapshot import Snapshot
from nn.targets import Edges, head_classes

Json = dict[str, Any]

FORMAT = 1
LAST, BEFORE = "last", "before"  # of a run: the newest, and an older one in case it ran ahead of what was stored
MODEL, META, STATE = "model.safetensors", "meta.json", "state.pt"
MAX_META_BYTES = 1 << 20
MAX_MODEL_BYTES = 4 << 30
MAX_STATE_BYTES = 3 * MAX_MODEL_BYTES  # an optimizer keeps two numbers a parameter


class CheckpointError(ValueError):
    """A folder that is no whole, safe checkpoint; names the file and what is wrong."""


class Mismatch(NamedTuple):
    """A field in which weights differ from what a run wants."""

    field: str
    have: Any
    want: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """What weights are of."""

    config: ModelConfig
    features: tuple[str, ...] = FEATURES
    labels: tuple[str, ...] = ()
    edges: Edges = field(default_factory=Edges)
    data_cut: int | None = None
    step: int = 0
    symbol: str = ""
    timeframe: str = ""
    dataset: str = ""  # hash of the dataset that they learnt from
    threads: int = 1
    created_ms: int = 0
    metrics: Json = field(default_factory=dict)
    temperatures: Mapping[str, float] = field(default_factory=dict)  # head → what its logits are divided by

    def to_json(self) -> Json:
        """Give plain data."""
        return {
            "format": FORMAT,
            "config": self.config.to_json(),
            "features": list(self.features),
            "labels": list(self.labels),
            "edges": self.edges.to_json(),
            "temperatures": dict(self.temperatures),
            **{
                name: getattr(self, name)
                for name in ("data_cut", "step", "symbol", "timeframe", "dataset", "threads", "created_ms", "metrics")
            },
        }


@dataclass(frozen=True, slots=True)
class Weights:
    """Parameters on the CPU and what they are of."""

    params: Mapping[str, Tensor]
    meta: Meta


def weights_of(
    snapshot: Snapshot, *, symbol: str, timeframe: str, threads: int, dataset: str = "", metrics: Json | None = None
) -> Weights:
    """Make weights of a snapshot."""
    meta = Meta(
        config=snapshot.config,
        labels=snapshot.labels,
        edges=snapshot.edges,
        data_cut=snapshot.data_cut,
        step=snapshot.step,
        symbol=symbol,
        timeframe=timeframe,
        dataset=dataset,
        threads=threads,
        created_ms=snapshot.created_ms,
        metrics=metrics or {},
        temperatures=snapshot.temperatures,
    )
    return Weights({name: p.cpu() for name, p in snapshot.params.items()}, meta)


def mismatches(
    meta: Meta, config: ModelConfig, labels: Sequence[str], features: Sequence[str] = FEATURES
) -> list[Mismatch]:
    """Give each field in which the weights do not fit `config`, the features or the labels; empty: they fit."""
    pairs = [(name, getattr(meta.config, name), getattr(config, name)) for name in ModelConfig.SHAPE]
    pairs += [("features", list(meta.features), list(features)), ("labels", list(meta.labels), list(labels))]
    return [Mismatch(*pair) for pair in pairs if pair[1] != pair[2]]


def save(folder: Path, weights: Weights, state: Mapping[str, Any] | None = None) -> None:
    """Write a checkpoint so that `folder` holds the old one or the new one, never a mixture."""
    new, old = _beside(folder, ".new"), _beside(folder, ".old")
    if old.exists() and not folder.exists():
        old.rename(folder)  # a crash came between the two renames below
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    content = format_tensors({name: p.contiguous() for name, p in weights.params.items()})
    write_whole(new / MODEL, content)
    meta = {**weights.meta.to_json(), "sha256": hashlib.sha256(content).hexdigest()}
    if state is not None:
        packed = io.BytesIO()
        torch.save(dict(state), packed)
        write_whole(new / STATE, packed.getvalue())
        meta["state_sha256"] = hashlib.sha256(packed.getbuffer()).hexdigest()
    write_whole(new / META, json.dumps(meta, indent=1).encode())
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    sync_folder(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


class Kept(NamedTuple):
    """A checkpoint of a run, whole."""

    name: str
    weights: Weights
    state: Json


def standing(folder: Path) -> list[Kept]:
    """Give the whole checkpoints of a run's folder, the newest first; raise CheckpointError where all are torn."""
    found, torn = list[Kept](), list[CheckpointError]()
    for name in (LAST, BEFORE):
        if exists(folder / name):
            try:
                found.append(Kept(name, load(folder / name), load_state(folder / name)))
            except CheckpointError as error:
                torn.append(error)
    if torn and not found:
        raise torn[0]
    return found


def keep_before(folder: Path) -> None:
    """Keep the last checkpoint of a run's folder, where there is one, as the one before."""
    if exists(folder / LAST):
        shutil.rmtree(folder / BEFORE, ignore_errors=True)
        # Linked, not copied: a checkpoint's files are never written again, only replaced.
        shutil.copytree(_whole(folder / LAST), folder / BEFORE, copy_function=os.link)


def go_back(folder: Path) -> None:
    """Put the checkpoint before in the place of the last one."""
    shutil.rmtree(folder / LAST, ignore_errors=True)
    (folder / BEFORE).rename(folder / LAST)


def exists(folder: Path) -> bool:
    """Say whether a checkpoint stands in `folder`."""
    return (_whole(folder) / META).is_file()


def load(folder: Path) -> Weights:
    """Read weights; raise CheckpointError for a file that is missing, torn, crafted or too large."""
    folder = _whole(folder)
    meta, sha256 = _read_meta(folder / META)
    want = _shapes(meta)
    size = sum(math.prod(shape) for shape in want.values()) * 4
    content = _bounded(folder / MODEL, min(size + MAX_META_BYTES, MAX_MODEL_BYTES))  # a header is smaller than that
    if hashlib.sha256(content).hexdigest() != sha256:
        raise CheckpointError(f"{folder / MODEL}: not the file that {META} speaks of")
    try:
        params = parse_tensors(content)
    except SafetensorError as error:
        raise CheckpointError(f"{folder / MODEL}: {error}") from error
    _check_tensors(folder / MODEL, params, want)
    return Weights(params, meta)


def load_state(folder: Path) -> Json:
    """Read the state of the run's own checkpoint, for an exact resume; raise CheckpointError."""
    path = _whole(folder) / STATE
    content = _bounded(path, MAX_STATE_BYTES)
    meta = _parsed(_whole(folder) / META)
    named = meta.get("state_sha256")
    if named is None or meta.get("features") != list(FEATURES):
        raise CheckpointError(f"{path}: kept by an earlier version, it cannot be resumed; start a new run")
    if hashlib.sha256(content).hexdigest() != named:
        raise CheckpointError(f"{path}: not the file that {META} speaks of")
    try:
        _check_unpacked(content)
        state: Json = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, zipfile.BadZipFile, RuntimeError) as error:
        raise CheckpointError(f"{path}: {error!r}") from error
    return state


def _beside(folder: Path, ending: str) -> Path:
    return folder.with_name(folder.name + ending)


def _whole(folder: Path) -> Path:
    """Give the folder, or the old one beside it where a crash came between the two renames of `save`."""
    old = _beside(folder, ".old")
    return old if not folder.exists() and old.exists() else folder


def _bounded(path: Path, most: int) -> bytes:
    try:
        size = path.stat().st_size
        if size > most:
            raise CheckpointError(f"{path}: {size} bytes; at most {most} are read")
        return path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path}: {error.strerror}") from error


def _read_meta(path: Path) -> tuple[Meta, str]:
    try:
        given = _parsed(path)
        if given["format"] != FORMAT:
            raise CheckpointError(f"{path}: format {given['format']!r}; this version reads {FORMAT}")
        return _meta(given), str(given["sha256"])
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, CheckpointError):
            raise
        detail = str(error) if isinstance(error, ConfigError) else repr(error)
        raise CheckpointError(f"{path}: {detail}") from error


def _parsed(path: Path) -> Json:
    try:
        given = json.loads(_bounded(path, MAX_META_BYTES))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: {error!r}") from error
    if not isinstance(given, dict):
        raise CheckpointError(f"{path}: not an object")
    return given


def _meta(given: Json) -> Meta:
    cut, metrics = given["data_cut"], given["metrics"]
    names = {name: [str(of) for of in _list(given[name])] for name in ("features", "labels")}
    return Meta(
        config=ModelConfig.from_json(given["config"]),
        features=tuple(names["features"]),
        labels=tuple(names["labels"]),
        edges=Edges.from_json(given["edges"]),
        data_cut=None if cut is None else int(cut),
        metrics=dict(metrics),
        step=int(given["step"]),
        threads=int(given["threads"]),
        created_ms=int(given["created_ms"]),
        symbol=str(given["symbol"]),
        timeframe=str(given["timeframe"]),
        dataset=str(given.get("dataset", "")),
        temperatures=_temperatures(given.get("temperatures", {})),
    )


def _temperatures(given: Json) -> dict[str, float]:
    found = {str(head): float(value) for head, value in given.items()}
    for head, value in found.items():
        if not 0 < value < math.inf:
            raise ValueError(f"temperatures.{head} = {value}: must be above 0 and finite")
    return found


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r}: a list is needed")
    return value


def _shapes(meta: Meta) -> dict[str, tuple[int, ...]]:
    module = skeleton(meta.config, head_classes(meta.labels), len(meta.features))
    return {name: tuple(p.shape) for name, p in module.named_parameters()}


def _check_tensors(path: Path, params: Mapping[str, Tensor], want: Mapping[str, tuple[int, ...]]) -> None:
    have = {name: tuple(p.shape) for name, p in params.items()}
    wrong = sorted(name for name in have.keys() | want.keys() if have.get(name) != want.get(name))
    if wrong:
        name = wrong[0]
        raise CheckpointError(
            f"{path}: tensor {name} is {have.get(name)}; the config in {META} makes it {want.get(name)}"
        )
    for name, tensor in params.items():
        if tensor.dtype != torch.float32 or not bool(torch.isfinite(tensor).all()):
            raise CheckpointError(f"{path}: tensor {name} holds {tensor.dtype}; finite float32 numbers are needed")


def _check_unpacked(content: bytes) -> None:
    """Refuse an archive whose members would unpack to more than any run's state holds."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > MAX_STATE_BYTES:
        raise CheckpointError(f"{STATE}: {size} bytes; at most {MAX_STATE_BYTES} are read")

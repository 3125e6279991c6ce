"""The import rules hold, and each catches a planted violation of its kind."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLANTED = {
    "nn imports flask": ("nn/planted.py", "import flask"),
    "nn imports sqlalchemy": ("nn/planted.py", "import sqlalchemy"),
    "nn imports annotate": ("nn/planted.py", "from annotate.errors import NotFound"),
    "nn imports app": ("nn/planted.py", "from app import main"),
    "annotate imports torch": ("annotate/planted.py", "import torch"),
    "annotate reaches torch through nn": ("annotate/views/planted.py", "from nn.learner import Learner"),
    "a view imports nn's config": ("annotate/views/planted.py", "from nn.config import MODELS"),
    "a pure rule imports flask": ("annotate/annotations/planted.py", "import flask"),
    "a pure rule imports the database": ("annotate/importing/planted.py", "from annotate.models import Series"),
    "the store imports a view": ("annotate/store/planted.py", "from annotate.views.services import services"),
    "a model imports the worker": ("nn/models/planted.py", "from nn.worker import main"),
}


def test_the_rules_hold(tmp_path: Path) -> None:
    done = _lint(_copy(tmp_path))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_violation_is_caught(kind: str, tmp_path: Path) -> None:
    tree = _copy(tmp_path)
    path, line = PLANTED[kind]
    (tree / path).write_text(f'"""Planted."""\n\n{line}\n', "utf-8")
    done = _lint(tree)
    assert done.returncode == 1
    assert "planted" in done.stdout


def test_app_imports_neither_torch_nor_the_learning_side() -> None:
    # app.py is a single file, which the linter's graph leaves out.
    assert not _imported((ROOT / "app.py").read_text("utf-8")) & {"torch", "nn", "safetensors"}


def test_the_rule_for_app_catches_each() -> None:
    assert _imported("import torch.nn\nfrom nn.config import MODELS\n") == {"torch", "nn"}


def test_nn_is_never_imported_bare() -> None:
    # `from torch import nn` would rebind the name, and later lines would speak to torch.
    offenders = [str(path) for path in _sources() if _bare_imports(path.read_text("utf-8"))]
    assert offenders == []


def test_the_bare_import_rule_catches_one() -> None:
    assert _bare_imports("import nn.fit\n")
    assert not _bare_imports("from nn.fit import fit\n")


def _bare_imports(source: str) -> list[ast.Import]:
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import)]
    return [node for node in imports if any(alias.name.split(".")[0] == "nn" for alias in node.names)]


def _imported(source: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(source)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.split(".")[0] for name in plain | named}


def _sources() -> list[Path]:
    return [
        ROOT / "app.py",
        *(path for folder in ("annotate", "nn", "bench", "tests") for path in (ROOT / folder).rglob("*.py")),
    ]


def _copy(tmp_path: Path) -> Path:
    for name in ("annotate", "nn"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("app.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def _lint(tree: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)

"""Series, datasets, exports and imports from a shell: `python -m annotate series | datasets | export | import`.

Prints a JSON object a line. Exit code 0: done; 1: refused, with the reason on stderr; 2: the command line is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from annotate.errors import AnnotateError, InvalidInput
from annotate.exporting.formats import FORMATS
from annotate.exporting.recipe import Recipe
from annotate.models import Json
from annotate.settings import Settings
from annotate.shell import Shell, opened
from annotate.store.undo import Gesture


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; give the exit code."""
    asked = _parser().parse_args(arguments)
    try:
        data_dir = Settings.from_environment(os.environ).data_dir
        with opened(data_dir, make=asked.command == "import") as shell:
            for item in _run(shell, asked):
                print(json.dumps(item, ensure_ascii=False))
    except AnnotateError as error:
        print(f"annotate: {error.message}", file=sys.stderr)
        for question in error.details.get("questions", []):
            choices = ", ".join(choice["value"] for choice in question["choices"])
            print(f"  --answer {question['name']}=…  {question['question']} ({choices})", file=sys.stderr)
        return 1
    return 0


def _run(shell: Shell, asked: argparse.Namespace) -> list[Json]:
    if asked.command == "series":
        return shell.series()
    if asked.command == "datasets":
        return _datasets(shell, asked)
    if asked.command == "export":
        return [_export(shell, asked)]
    gesture = Gesture(author=asked.author, now=time.time_ns() // 1_000_000)
    return [shell.import_file(asked.file, asked.series, _answers(asked), gesture, dry_run=asked.dry_run)]


def _datasets(shell: Shell, asked: argparse.Namespace) -> list[Json]:
    if asked.make is None:
        return shell.datasets(asked.series)
    if asked.series is None:
        raise InvalidInput("--make needs the --series to make it of")
    return [shell.make_dataset(asked.series, asked.make, kept=True, recipe=Recipe())]


def _export(shell: Shell, asked: argparse.Namespace) -> Json:
    if asked.workspace:
        return shell.export_workspace(asked.out, runs=asked.runs)
    dataset_id = asked.dataset
    if dataset_id is None:
        if asked.series is None:
            raise InvalidInput("say what to export: --dataset, --series or --workspace")
        dataset_id = shell.make_dataset(asked.series, "made for an export", kept=False, recipe=Recipe())["id"]
    options = {name: getattr(asked, name) for name in ("sequence_length", "stride")}
    return shell.export(dataset_id, asked.format, asked.out, {k: v for k, v in options.items() if v is not None})


def _answers(asked: argparse.Namespace) -> Json:
    answers: Json = {} if asked.symbol is None else {"symbol": asked.symbol}
    for text in asked.answer:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidInput(f"--answer {text}: write name=value")
        answers[name] = value
    return answers


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m annotate", description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("series", help="list the series")
    datasets = commands.add_parser("datasets", help="list the datasets, or make one", allow_abbrev=False)
    datasets.add_argument("--series", type=int, help="number of a series")
    datasets.add_argument("--make", metavar="NAME", help="make one of the series, of this name")
    export = commands.add_parser("export", help="write a dataset or the workspace to a zip", allow_abbrev=False)
    export.add_argument("out", type=Path, help="the file to write")
    export.add_argument("--dataset", type=int, help="number of a dataset")
    export.add_argument("--series", type=int, help="number of a series, as it is now")
    export.add_argument("--workspace", action="store_true", help="series, label sets and marks, all of them")
    export.add_argument("--runs", action="store_true", help="with --workspace: the runs too")
    export.add_argument("--format", choices=tuple(FORMATS), default="dataset", help="default: dataset")
    export.add_argument("--sequence_length", type=int, help="candles in a window, for the windows formats")
    export.add_argument("--stride", type=int, help="candles from one window to the next")
    take = commands.add_parser("import", help="take candles, marks or a workspace in", allow_abbrev=False)
    take.add_argument("file", type=Path)
    take.add_argument("--series", type=int, help="the file holds marks for this series")
    take.add_argument("--symbol", help="what the candles are of, where the file does not say")
    take.add_argument("--answer", action="append", default=[], metavar="NAME=VALUE", help="what the file leaves open")
    take.add_argument("--author", default="me", help="whose marks they are, where the file does not say")
    take.add_argument("--dry-run", action="store_true", help="say what marks would come to; store nothing")
    return parser


if __name__ == "__main__":
    sys.exit(main())

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
from typing import TYPE_CHECKING

from annotate.annotations.fields import Fields
from annotate.errors import AnnotateError, InvalidInput, NotFound
from annotate.exporting.formats import FORMATS
from annotate.exporting.recipe import Recipe
from annotate.models import Json
from annotate.settings import Settings
from annotate.shell import Shell, opened
from annotate.store.undo import Gesture

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001  # argparse names it nowhere else

STOPPED = 130  # exit code after Ctrl+C, as shells have it


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
    except KeyboardInterrupt:
        print("annotate: stopped; nothing is half done", file=sys.stderr)
        return STOPPED
    return 0


def _run(shell: Shell, asked: argparse.Namespace) -> list[Json]:
    if asked.command == "series":
        return _series(shell, asked)
    if asked.command == "datasets":
        return _datasets(shell, asked)
    if asked.command == "export":
        return [_export(shell, asked)]
    return [_import(shell, asked)]


def _series(shell: Shell, asked: argparse.Namespace) -> list[Json]:
    if asked.rename is not None:
        return [shell.rename_series(_number(asked.rename[0]), asked.rename[1])]
    if asked.delete is not None:
        return [shell.delete_series(asked.delete, _now())]
    return shell.series()


def _datasets(shell: Shell, asked: argparse.Namespace) -> list[Json]:
    if asked.changes is not None:
        return [shell.changes(asked.changes, asked.to)]
    if asked.rename is not None:
        return [shell.change_dataset(_number(asked.rename[0]), asked.rename[1], asked.note)]
    if asked.delete is not None:
        return [shell.delete_dataset(asked.delete)]
    if asked.make is None and not asked.preview:
        return shell.datasets(asked.series)
    if asked.series is None:
        raise InvalidInput("--make and --preview need the --series to make it of")
    if asked.preview:
        return [shell.preview_dataset(asked.series, _recipe(asked))]
    return [shell.make_dataset(asked.series, asked.make, kept=True, recipe=_recipe(asked), note=asked.note or "")]


def _recipe(asked: argparse.Namespace) -> Recipe:
    given: Json = {"without_hindsight": asked.without_hindsight}
    if asked.split is not None:
        given["split"] = [_share(text) for text in asked.split.split("/")]
    if asked.horizon is not None:
        given["horizon"] = asked.horizon
    return Recipe.from_fields(Fields(given))


def _share(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text  # refused by name where it is read


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(f"{text!r} is no number; --rename takes the number and the new name") from None


def _now() -> int:
    return time.time_ns() // 1_000_000


def _import(shell: Shell, asked: argparse.Namespace) -> Json:
    if not asked.file.is_file():
        raise NotFound(f"there is no file {asked.file}")
    gesture = Gesture(author=asked.author, now=_now())
    if asked.series is None:
        if asked.dry_run or asked.replace:
            raise InvalidInput("--dry-run and --replace are for marks: name their --series")
        return shell.import_file(asked.file, _answers(asked), gesture, asked.into)
    how = {"dry_run": asked.dry_run, "replace": asked.replace}
    return shell.import_marks(asked.file, asked.series, _answers(asked), gesture, **how)


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
    series = commands.add_parser("series", help="list the series, or change one", allow_abbrev=False)
    series.add_argument("--rename", nargs=2, metavar=("NUMBER", "SYMBOL"))
    series.add_argument("--delete", type=int, metavar="NUMBER")
    _datasets_parser(commands)
    _export_parser(commands)
    _import_parser(commands)
    return parser


def _datasets_parser(commands: Commands) -> None:
    about = "list the datasets, make, compare or change one"
    datasets = commands.add_parser("datasets", help=about, allow_abbrev=False)
    datasets.add_argument("--series", type=int, help="number of a series")
    datasets.add_argument("--make", metavar="NAME", help="make one of the series, of this name")
    datasets.add_argument("--preview", action="store_true", help="say what one made now would hold")
    datasets.add_argument("--split", help="shares of train, validation and test: 70/15/15")
    datasets.add_argument("--horizon", type=int, help="candles that the longest target looks ahead: 5")
    datasets.add_argument("--without-hindsight", action="store_true", help="leave out marks made in hindsight")
    datasets.add_argument("--note", help="with --make or --rename: what is worth knowing of it")
    datasets.add_argument("--changes", type=int, metavar="NUMBER", help="what changed since this dataset")
    datasets.add_argument("--to", type=int, metavar="NUMBER", help="with --changes: up to this one instead of now")
    datasets.add_argument("--rename", nargs=2, metavar=("NUMBER", "NAME"))
    datasets.add_argument("--delete", type=int, metavar="NUMBER")


def _export_parser(commands: Commands) -> None:
    export = commands.add_parser("export", help="write a dataset or the workspace to a zip", allow_abbrev=False)
    export.add_argument("out", type=Path, help="the file to write")
    export.add_argument("--dataset", type=int, help="number of a dataset")
    export.add_argument("--series", type=int, help="number of a series, as it is now")
    export.add_argument("--workspace", action="store_true", help="series, label sets and marks, all of them")
    export.add_argument("--runs", action="store_true", help="with --workspace: the runs too")
    export.add_argument("--format", choices=tuple(FORMATS), default="dataset", help="default: dataset")
    export.add_argument("--sequence_length", type=int, help="candles in a window, for the windows formats")
    export.add_argument("--stride", type=int, help="candles from one window to the next")


def _import_parser(commands: Commands) -> None:
    take = commands.add_parser("import", help="take candles, marks or a workspace in", allow_abbrev=False)
    take.add_argument("file", type=Path)
    take.add_argument("--series", type=int, help="the file holds marks for this series")
    take.add_argument("--symbol", help="what the candles are of, where the file does not say")
    take.add_argument("--answer", action="append", default=[], metavar="NAME=VALUE", help="what the file leaves open")
    take.add_argument("--author", default="me", help="whose marks they are, where the file does not say")
    take.add_argument("--dry-run", action="store_true", help="say what marks would come to; store nothing")
    take.add_argument("--replace", action="store_true", help="let the file's marks take the place of stored ones")
    take.add_argument("--into", type=int, metavar="NUMBER", help="add the candles to this series")


if __name__ == "__main__":
    sys.exit(main())

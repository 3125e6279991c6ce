"""`python -m nn fit <dir>` trains on a dataset directory, `skill <dir>` asks whether what a run learns there is skill,
`leaks <dir>` looks for what knows what it cannot have known; `python -m nn check` tests this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

# Before torch is imported anywhere: idle threads sleep rather than spin, or they cost a busy machine most of its time.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from nn.config import BatchConfig, ConfigError, SkillConfig
from nn.dataset_dir import read, verify

Json = dict[str, Any]
AUDITS: dict[str, type[BatchConfig]] = {"skill": SkillConfig, "leaks": BatchConfig}
BAD_INPUT = 2  # exit code for what the caller must change, as argparse has it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; give its exit code: 0, 1 where a check failed, 2 for what the caller must change."""
    given = vars(_parser().parse_args(arguments))
    name = given.pop("command")
    commands: dict[str, Callable[[Json], int]] = {"fit": _fit, "check": _check}
    commands |= {kind: partial(_audit, kind) for kind in AUDITS}
    try:
        return commands[name](given)
    except ValueError as error:  # a config, dataset, device or checkpoint that cannot be taken says the way out
        print(error, file=sys.stderr)
        return BAD_INPUT


def _check(given: Json) -> int:
    from nn.check import check  # torch comes in here

    return check(given["device"], print)


def _audit(kind: str, given: Json) -> int:
    asked = {name: given.pop(name) for name in ("device", "threads")}
    folder = given.pop("dir")
    config = AUDITS[kind].from_json(_fields(given))
    dataset = read(folder)
    verify(folder)
    from nn.shell import audit_in_shell  # torch comes in here, after the quick checks

    return audit_in_shell(config, dataset, say=_say, **asked)


def _fit(given: Json) -> int:
    asked = {name: given.pop(name) for name in ("device", "threads", "checkpoints", "resume")}
    folder = given.pop("dir")
    config = BatchConfig.from_json(_fields(given))
    if asked["resume"] and asked["checkpoints"] is None:
        raise ConfigError("--resume", True, "goes on from the last checkpoint: name its folder with --checkpoints")
    dataset = read(folder)
    verify(folder)
    from nn.shell import fit_in_shell  # torch comes in here, after the quick checks

    return fit_in_shell(config, folder, dataset, say=_say, **asked)


def _say(line: str) -> None:
    print(line, flush=True)


def _fields(given: Json) -> Json:
    return {name: _value(name, text) for name, text in given.items() if text is not None}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m nn", description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    fit = _command(commands, "fit", "train on a dataset directory", BatchConfig)
    fit.add_argument(
        "--checkpoints", type=Path, help="folder to keep the last and the best weights in; left out: none are kept"
    )
    fit.add_argument("--resume", action="store_true", help="go on from the last checkpoint in --checkpoints")
    _command(commands, "skill", "train on the real targets and on shuffled ones, and compare", AUDITS["skill"])
    _command(commands, "leaks", "look for answers that know what came later", AUDITS["leaks"])
    test = commands.add_parser("check", help="say what this machine trains on, and check one step", allow_abbrev=False)
    _take_device(test)
    return parser


def _command(commands: Any, name: str, what: str, config: type[BatchConfig]) -> argparse.ArgumentParser:
    """Add a command that reads a dataset directory and takes the fields of `config`."""
    command: argparse.ArgumentParser = commands.add_parser(name, help=what, allow_abbrev=False)
    command.add_argument(
        "dir", type=Path, help="the folder that holds manifest.json, candles.arrow and annotations.jsonl"
    )
    command.add_argument("--threads", type=int, default=0, help="CPU threads; 0 (default) measures what is fastest")
    for field in config.fields():
        meaning = f"{field['meaning']} Default: {field['default']}".replace("%", "%%")
        command.add_argument(f"--{field['name']}", help=meaning)
    _take_device(command)
    return command


def _take_device(command: argparse.ArgumentParser) -> None:
    command.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"), help="where to train")


def _value(name: str, text: str) -> Any:
    """Read an option: JSON where it is (numbers, true, null, {"candle": 1}), else the text itself."""
    if name == "split" and "/" in text:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


if __name__ == "__main__":
    sys.exit(main())

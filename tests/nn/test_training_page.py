"""The page on training lists every field with its default and meaning, and no other."""

from __future__ import annotations

import json
import re
from pathlib import Path

from nn.config import BatchConfig, LiveConfig, ModelConfig, SkillConfig

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "training.md"


def test_every_field_stands_on_the_page_with_its_default_and_meaning() -> None:
    rows = set(
        re.findall(r"^\| `(\w+)` \| `(.*?)` \| (.*?)(?: \(from .*?\))? \|$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    )
    every = [*ModelConfig.fields(), *BatchConfig.fields(), *LiveConfig.fields(), *SkillConfig.fields()]
    assert rows == {(field["name"], json.dumps(field["default"]), field["meaning"]) for field in every}

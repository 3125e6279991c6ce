"""Settings: what the environment may say, and that the documentation says the same."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from annotate.errors import InvalidInput
from annotate.settings import PREFIX, Settings

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "settings.md"


def test_an_empty_environment_gives_the_defaults() -> None:
    assert Settings.from_environment({"PATH": "/bin"}) == Settings()


def test_each_setting_is_read_by_its_name_and_type() -> None:
    given = {"ANNOTATE_DATA_DIR": "folder", "ANNOTATE_PORT": "9000", "ANNOTATE_ALLOWED_HOSTS": "a.example, b.example"}
    settings = Settings.from_environment(given)
    assert (settings.data_dir, settings.port, settings.allowed_hosts) == (
        Path("folder"),
        9000,
        ("a.example", "b.example"),
    )


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("ANNOTATE_PROT", "1", "unknown setting ANNOTATE_PROT"),
        ("ANNOTATE_PORT", "eighty", "ANNOTATE_PORT=eighty: a whole number"),
        ("ANNOTATE_PORT", "65536", "from 0 to 65535"),
        ("ANNOTATE_HOST", "0.0.0.0", "ANNOTATE_ALLOWED_HOSTS"),
        ("ANNOTATE_DEVICE", "tpu", "auto, cpu, cuda"),
        ("ANNOTATE_THREADS", "-1", "0 or more"),
        ("ANNOTATE_EXCHANGE_AT", "http://exchange.example:80", "only an address of this machine"),
        ("ANNOTATE_EXCHANGE_AT", "http://127.0.0.1:80@exchange.example", "only an address of this machine"),
        ("ANNOTATE_MAX_UPLOAD_MB", "0", "at least 1"),
        ("ANNOTATE_LOG_LEVEL", "loud", "DEBUG, INFO"),
    ],
)
def test_a_bad_setting_is_named_with_the_way_out(name: str, value: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(words)):
        Settings.from_environment({name: value})


def test_another_host_is_served_once_its_names_are_given() -> None:
    given = {"ANNOTATE_HOST": "0.0.0.0", "ANNOTATE_ALLOWED_HOSTS": "charts.example"}
    assert Settings.from_environment(given).host == "0.0.0.0"


def test_the_page_on_settings_lists_every_one_with_its_default_and_no_other() -> None:
    rows = re.findall(r"^\| `(ANNOTATE_\w+)` \| (.*?) \| (.*?) \|$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    expected = [
        (PREFIX + f.name.upper(), _shown(f.default), f.metadata["meaning"]) for f in dataclasses.fields(Settings)
    ]
    assert rows == expected


def _shown(default: object) -> str:
    if default in ("", ()):
        return "none"
    return f"`{default}`"

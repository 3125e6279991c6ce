"""Which old encoding a text is in: the one in which its header names candles."""

from __future__ import annotations

import re

from annotate.importing.columns import roles_by_name

# Western Europe first: it is taken where no encoding gives names that are known.
CANDIDATES = ("cp1252", "gb18030", "shift_jis", "cp949", "big5", "cp1251", "cp1250", "cp1254")
HEADER_LINES = 60


def likely_encoding(head: bytes) -> str:
    """Give the encoding in which a line of the head names most roles of candles."""
    whole = head[: head.rfind(b"\n") + 1] or head
    scores = {encoding: _named_roles(whole, encoding) for encoding in CANDIDATES}
    return max(CANDIDATES, key=lambda encoding: scores[encoding])


def _named_roles(head: bytes, encoding: str) -> int:
    try:
        lines = head.decode(encoding).splitlines()[:HEADER_LINES]
    except UnicodeDecodeError:
        return -1
    return max((len(roles_by_name(re.split(r"[\t;,|]", line)).index) for line in lines), default=0)

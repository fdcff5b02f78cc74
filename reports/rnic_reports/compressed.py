# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""JSON values as compressed text inside the page, in blocks that the script unpacks when one of their values is asked for."""

import base64
import json
import zlib

BLOCK = 200_000  # octets of JSON: some milliseconds to unpack
LEVEL = 6
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))


def blocks(values):
    """Yields (number of the first value, text) for each block of values."""
    first, parts, size = 0, [], 0
    for number, value in enumerate(values):
        part = _ENCODER.encode(value)
        if parts and size + len(part) > BLOCK:
            yield first, _packed(parts)
            first, parts, size = number, [], 0
        parts.append(part)
        size += len(part)
    if parts:
        yield first, _packed(parts)


def _packed(parts):
    return base64.b64encode(zlib.compress(f"[{','.join(parts)}]".encode(), LEVEL)).decode()

"""The published JSON Schema allows what the loader takes, and refuses what it refuses."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from schemas import fits

from autotune.dispatch import SCHEMA_VERSION, Table
from autotune.errors import InvalidTable

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "table.schema.json").read_text())
OTHERS = (None, True, 0, -1, 7, 1.5, "", "text", [], ["a", "a"], {}, 10**18, 1001)
FREE = {
    "problem",
    "config",
    "policy",
    "weights",
    "contexts",
    "exact",
    "units",
}  # whose keys are not of the schema


def places(value, path=()):
    """Yield the path of every member below ``value``."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inner:
        yield (*path, key)
        if isinstance(each, dict | list):
            yield from places(each, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def loads(document):
    try:
        Table.parse(json.dumps(document))
    except InvalidTable as error:
        return str(error)
    return ""


def test_the_schema_is_of_this_version_and_takes_a_table(sample, guided):
    assert SCHEMA["properties"]["schema_version"]["maximum"] == SCHEMA_VERSION
    assert fits(guided, SCHEMA, SCHEMA)
    assert fits(sample | {"preference": "registers<=64"}, SCHEMA, SCHEMA)


def test_every_change_that_the_loader_takes_fits_the_schema(guided):
    taken = 0
    for path in list(places(guided)):
        for other in OTHERS:
            changed = copy.deepcopy(guided)
            at(changed, path[:-1])[path[-1]] = other
            if not loads(changed):
                taken += 1
                assert fits(changed, SCHEMA, SCHEMA), (path, other)
    assert taken > 100


def test_a_member_that_is_missing_or_unknown_is_refused_by_both(guided):
    objects = [(), *(path for path in places(guided) if isinstance(at(guided, path), dict))]
    for path in objects:
        if path and path[-1] in FREE:
            continue
        for key in [*at(guided, path), "surprise"]:
            changed = copy.deepcopy(guided)
            inner = at(changed, path)
            inner.pop(key) if key in inner else inner.update({key: 1})
            assert fits(changed, SCHEMA, SCHEMA) == (not loads(changed)), (path, key)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_tables_of_older_versions_fit(sample, version):
    for key in ("weights", "regret"):
        del sample["kernels"]["gemm"][key]
    sample["kernels"]["gemm"]["entries"][0]["evidence"].pop("loss")
    assert fits(sample | {"schema_version": version}, SCHEMA, SCHEMA)

"""Loading: a whole, sound table or one clear line. Never a crash, never half a table."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.dispatch import Table
from autotune.errors import InvalidTable, NoValidConfig

GEMM = ("kernels", "gemm")
ENTRY = (*GEMM, "entries", 0)
FOREST = (*GEMM, "forest")
STEP = (*FOREST, "trees", 0, "steps")


def changed(document, path, value):
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    if value is DROPPED:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return document


DROPPED = object()


def refused(text):
    with pytest.raises(InvalidTable) as caught:
        Table.parse(text, "t.json")
    assert str(caught.value).startswith("t.json: ")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_table_tells_its_provenance(tmp_path, sample, build):
    path = tmp_path / "table.json"
    path.write_text(build.text(sample))
    table = Table.load(path)
    assert table.device.arch == "sm_90a"
    gemm = table.kernels["gemm"]
    context = gemm.contexts[gemm.entries[0].evidence.context]
    assert (context.compiler, context.policy["cache"]) == ("nvrtc", "cold")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("schema_version",), 6, "schema_version is 6, newer than 5; upgrade autotune"),
        (("schema_version",), "1", 'schema_version must be a whole number, not "1"'),
        (("schema",), "wisdom", 'schema must be one of autotune.table, not "wisdom"'),
        (("surprise",), 1, "surprise is not a field of a table"),
        (("device", "sm_count"), DROPPED, "device.sm_count is missing"),
        (("device", "sm_count"), True, "device.sm_count must be a whole number"),
        (("device", "name"), None, "device.name must be text, not null"),
        (("kernels",), [], "kernels must be an object, not a list"),
        ((*GEMM, "entries"), {}, "kernels.gemm.entries must be a list"),
        ((*GEMM, "scaled_fields"), ["m", "m"], "scaled_fields must be a list of different"),
        ((*GEMM, "scaled_fields"), ["m", "dtype"], "shares a field with exact_fields"),
        ((*ENTRY, "config", "tile"), 128.0, "config.tile must be a whole number or text, not 128"),
        ((*ENTRY, "config", "tile"), DROPPED, "configs that differ in their parameters"),
        ((*ENTRY, "problem", "m"), "16", "entries[0].problem.m must be a whole number"),
        ((*ENTRY, "problem", "m"), -1, "entries[0].problem.m must be a whole number of at least 0"),
        ((*ENTRY, "problem", "dtype"), 16, "has whole numbers and text for dtype"),
        ((*ENTRY, "problem", "k"), 4095, "does not meet its own condition: k must be a multiple"),
        ((*ENTRY, "conditions", 0, "multiple_of"), 0, "multiple_of must be at least 1"),
        ((*ENTRY, "conditions", 0, "field"), "q", "q must be a whole number"),
        ((*ENTRY, "evidence"), None, "has an entry without evidence"),
        ((*ENTRY, "evidence", "time_ns"), 0, "evidence.time_ns must be more than 0"),
        ((*ENTRY, "evidence", "time_ns"), -3.5, "time_ns must be a number of at least 0"),
        ((*ENTRY, "evidence", "verified"), 1, "verified must be true or false"),
        ((*ENTRY, "evidence", "origin"), "guess", "origin must be one of measured, replayed"),
        ((*ENTRY, "evidence", "context"), "?", "context is not one of the kernel's contexts"),
        ((*ENTRY, "evidence", "row_id"), DROPPED, "evidence.row_id is missing"),
        ((*ENTRY, "evidence", "loss"), -0.1, "evidence.loss must be a number of at least 0"),
        ((*GEMM, "weights", "m"), DROPPED, "gemm.weights.m is missing"),
        ((*GEMM, "weights", "m"), 0, "gemm.weights.m must be at least 1"),
        ((*GEMM, "weights", "m"), 1001, "gemm.weights.m must be at most 1000, not 1001"),
        ((*GEMM, "weights", "q"), 1, "gemm.weights.q is not a field of a table"),
        ((*GEMM, "regret", "judged"), 4, "regret.judged is more than the 3 problems"),
        ((*GEMM, "regret", "judged"), 0, "regret.mean must be null exactly where nothing"),
        ((*GEMM, "regret", "worst"), None, "regret.worst must be null exactly where nothing"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(sample, path, value, message):
    assert message in refused(json.dumps(changed(sample, path, value)))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((*FOREST, "measures", 0, "kind"), "size", "kind must be one of tiles, rest"),
        ((*FOREST, "measures", 0, "units"), {}, "units must name one or two of m, n, k"),
        ((*FOREST, "measures", 0, "units"), {"dtype": 1}, "must name one or two of m, n, k"),
        ((*FOREST, "measures", 0, "units", "k"), 1, "units must name one or two of m, n, k"),
        ((*FOREST, "measures", 0, "units", "m"), 0, "units.m must be at least 1"),
        ((*FOREST, "measures", 0, "units", "m"), 1 << 31, "units.m must be at most 1073741824"),
        ((*FOREST, "trees", 0, "exact", "dtype"), DROPPED, "exact must have the fields dtype, lay"),
        (
            (*FOREST, "trees", 0, "exact", "dtype"),
            "fp32",
            "entry is no entry with the tree's exact",
        ),
        ((*FOREST, "trees", 0, "steps"), [], "trees[0].steps is empty"),
        ((*STEP, 1), {}, "steps[1].measure is missing"),
        ((*STEP, 0, "entry"), 0, "steps[0].measure is not a field of a table"),
        ((*STEP, 0, "measure"), 2, "steps[0].measure must be at most 1, not 2"),
        ((*STEP, 0, "at_most"), -1, "steps[0].at_most must be at least 0"),
        ((*STEP, 2, "next"), 2, "steps[2].next must be at least 3, not 2"),
        ((*STEP, 2, "next"), 4, "steps[2].next must be at most 3, not 4"),
        ((*STEP, 0, "next"), 3, "steps must lead to each step but the first in one way"),
        ((*STEP, 1, "entry"), 3, "steps[1].entry is no entry with the tree's exact fields"),
        ((*STEP, 1, "entry"), 2, "steps[1].entry is no entry with the tree's exact fields"),
        (("schema_version",), 4, "gemm.forest is of schema version 5, and this table is 4"),
    ],
)
def test_a_wrong_tree_is_refused(guided, path, value, message):
    assert message in refused(json.dumps(changed(guided, path, value)))


def test_two_trees_for_the_same_problems_are_refused(guided):
    trees = guided["kernels"]["gemm"]["forest"]["trees"]
    trees.append(trees[0])
    assert "has two trees for the same exact fields" in refused(json.dumps(guided))


def test_a_message_stays_on_one_line_whatever_the_keys(sample):
    refused(json.dumps(sample | {"two\nlines": 1}))
    refused(json.dumps(changed(sample, (*ENTRY, "config", "two\nlines"), [])))


def test_one_problem_may_not_be_answered_twice(sample):
    entries = sample["kernels"]["gemm"]["entries"]
    entries.append(entries[0])
    assert "answers one problem twice" in refused(json.dumps(sample))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 column 1"),
        ("{}", "schema is missing"),
        ("[]", "must be an object, not a list"),
        ("null", "must be an object, not null"),
        ('{"a": NaN}', "NaN is not a number in JSON"),
        ('{"a": -Infinity}', "-Infinity is not a number"),
        ('{"a": 1e999}', "number 1e999 is too large"),
        ('{"a": ' + "9" * 5000 + "}", "is too large"),
        ('{"a": 1,\n "a": 2}', 'key "a" appears twice'),
        ('{"a": 1,\n "b": }', "line 2 column 7"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"schema": "\\ud800"}', "half of a surrogate pair"),
        (b'{"schema": "\xff"}', "byte 12 is not UTF-8"),
        (b"\xef\xbb\xbf{}", "line 1 column 1"),
        (b"\x00" * 64, "line 1 column 1"),
    ],
)
def test_what_is_not_sound_json_is_refused(text, message):
    assert message in refused(text)


def test_every_truncation_is_refused(sample, build):
    text = build.text(sample).rstrip("\n").encode()
    for length in range(len(text)):
        with pytest.raises(InvalidTable):
            Table.parse(text[:length])


def test_flipped_bytes_give_a_table_or_an_error(guided, build):
    text, chance = bytearray(build.text(guided).encode()), random.Random(0)
    for _ in range(3000):
        place, before = chance.randrange(len(text)), None
        before, text[place] = text[place], chance.randrange(256)
        survives(bytes(text))
        text[place] = before


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else ()
    children = enumerate(value) if isinstance(value, list) else children
    for key, child in children:
        yield from places(child, (*path, key))


@given(data=st.data(), value=JSON)
def test_any_value_at_any_place_gives_a_table_or_an_error(shared_text, data, value):
    document = json.loads(shared_text)
    path = data.draw(st.sampled_from([p for p in places(document) if p]))
    survives(json.dumps(changed(document, path, value)))


def survives(text):
    """Parse ``text``; a table that loads must also answer."""
    try:
        table = Table.parse(text)
    except InvalidTable:
        return
    for kernel in table.kernels.values():
        for entry in kernel.entries:
            choice = table.lookup(kernel.name, **entry.problem)
            assert choice.source == "exact"
            beside = {name: entry.problem[name] + 1 for name in kernel.scaled_fields}
            with suppress(NoValidConfig):
                table.lookup(kernel.name, **{**entry.problem, **beside})


def test_what_is_not_a_readable_file_is_refused(tmp_path):
    for path, why in [
        (tmp_path / "missing.json", "No such file"),
        (tmp_path, "Is a directory"),
        ("nul\0byte", "null byte"),
    ]:
        with pytest.raises(InvalidTable, match=why) as caught:
            Table.load(path)
        assert "autotune export" in caught.value.hint


def test_an_endless_file_is_refused():
    with pytest.raises(InvalidTable, match="larger than 64 MiB"):
        Table.load("/dev/zero")


def test_the_import_takes_the_standard_library_alone():
    script = (
        "import sys; before = set(sys.modules); import autotune.dispatch;"
        "print(*sorted({m.split('.')[0] for m in set(sys.modules) - before}))"
    )
    run = subprocess.run(
        [sys.executable, "-S", "-c", script],
        capture_output=True, text=True, check=True, cwd=_root(),
    )  # fmt: skip
    foreign = set(run.stdout.split()) - sys.stdlib_module_names
    assert foreign == {"autotune"}


def _root():
    import autotune

    return autotune.__path__[0] + "/.."


def certificate(**changes):
    values = {
        "certified_at": "2026-02-03T04:05:06Z",
        "framework": "autotune 0.1.0",
        "problems": ["m=16,n=4096,k=4096,dtype=bf16,layout=nt", "m=1,n=1,k=8,dtype=bf16,layout=nt"],
        "draws": 5,
        "repeats": 12,
        "sanitizer": "memcheck: clean",
        "source_digest": "e" * 32,
        "toolchain": {"compiler": "nvrtc", "version": "13.0"},
        "driver": "580.01",
    }
    return values | changes


def certified(sample):
    gemm = sample["kernels"]["gemm"]
    answers = [*gemm["entries"], *gemm["defaults"]]
    for answer in answers:
        answer["certificate"] = certificate()
    about = {name: certificate()[name] for name in ("certified_at", "framework", "sanitizer")}
    return sample | {"certificate": {**about, "configs": len(answers), "removed": 1}}


def test_a_certificate_comes_with_the_choice_that_it_is_of(sample, build):
    table = Table.parse(build.text(certified(sample)))
    assert (table.certificate.configs, table.certificate.removed) == (5, 1)
    entry = table.lookup(m=16, n=4096, k=4096, dtype="bf16", layout="nt").entry
    assert entry.certificate.problems[1] == "m=1,n=1,k=8,dtype=bf16,layout=nt"
    assert (entry.certificate.compiler, entry.certificate.driver) == ("nvrtc", "580.01")


def unweighted(sample):
    for key in ("weights", "regret"):
        del sample["kernels"]["gemm"][key]
    return sample


def test_tables_of_the_schema_before_weights_count_all_fields_alike(sample, build):
    gemm = Table.parse(build.text(unweighted(sample) | {"schema_version": 2})).kernels["gemm"]
    assert gemm.weights == (1, 1, 1)
    assert gemm.regret is None


@pytest.mark.parametrize("key", ["weights", "regret"])
def test_an_older_table_cannot_know_what_is_newer(sample, key):
    for other in {"weights", "regret"} - {key}:
        del sample["kernels"]["gemm"][other]
    message = refused(json.dumps(sample | {"schema_version": 2}))
    assert f"kernels.gemm.{key} is of schema version 3, and this table is 2" in message


def test_a_table_says_by_what_preference_it_was_made(sample, build):
    assert Table.parse(build.text(sample)).preference == ""
    table = Table.parse(build.text(sample | {"preference": "shared_memory<=65536"}))
    assert table.preference == "shared_memory<=65536"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"preference": 1}, "preference must be text, not 1"),
        ({"preference": "", "schema_version": 3}, "preference is of schema version 4, and this"),
    ],
)
def test_a_preference_that_cannot_be_is_refused(sample, changes, message):
    assert message in refused(json.dumps(sample | changes))


def test_tables_of_the_schema_before_certificates_are_still_read(sample, build):
    table = Table.parse(build.text(unweighted(sample) | {"schema_version": 1}))
    assert table.certificate is None
    assert table.kernels["gemm"].entries[0].certificate is None


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("certificate",), DROPPED, "certificate is missing, and 5 of its configs have one"),
        (("certificate",), None, "certificate must be an object, not null"),
        (("certificate", "configs"), 4, "certificate says 4 configs; 5 of 5 have one"),
        (("certificate", "removed"), -1, "certificate.removed must be at least 0"),
        (("certificate", "sanitizer"), DROPPED, "certificate.sanitizer is missing"),
        (("certificate", "by"), "me", "certificate.by is not a field of a table"),
        ((*ENTRY, "certificate"), DROPPED, "certificate says 5 configs; 4 of 5 have one"),
        ((*ENTRY, "certificate", "problems"), [], "certificate.problems must name a problem"),
        ((*ENTRY, "certificate", "problems"), ["a", "a"], "must be a list of different texts"),
        ((*ENTRY, "certificate", "draws"), 0, "certificate.draws must be at least 1"),
        ((*ENTRY, "certificate", "toolchain", "flags"), "", "toolchain.flags is not a field"),
        ((*ENTRY, "certificate", "speed"), 1, "certificate.speed is not a field of a table"),
    ],
)
def test_a_wrong_certificate_is_named_with_its_place(sample, path, value, message):
    assert message in refused(json.dumps(changed(certified(sample), path, value)))


def test_the_first_schema_knew_no_certificates(sample):
    document = certified(unweighted(sample)) | {"schema_version": 1}
    message = refused(json.dumps(document))
    assert "schema_version is 1, which knows no certificates" in message


def test_every_truncation_of_a_certified_table_is_refused(sample, build):
    text = build.text(certified(sample)).rstrip("\n").encode()
    for length in range(0, len(text), 7):
        with pytest.raises(InvalidTable):
            Table.parse(text[:length])

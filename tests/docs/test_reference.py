"""What the documentation lists is what there is."""

from __future__ import annotations

import dataclasses
import re
import sqlite3
import tomllib
from contextlib import closing

import generate
import pages

from autotune import errors
from autotune.records import PRESETS, Status, installed_kernels, load_kernel
from autotune.search import SAMPLERS
from autotune.store import upgrade
from autotune.study.file import _Study
from kernel_space.gemm.problem import DTYPES, LAYOUTS
from kernel_space.stream import problem as stream


def _read(name):
    return (pages.ROOT / name).read_text(encoding="utf-8")


def _first_column(text):
    """Return what stands in code style in the first cell of each row of the tables."""
    cells = re.findall(r"^\| (.*?) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def _section(text, heading):
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]


def test_what_follows_from_code_and_measurements_is_up_to_date():
    for name, text in generate.GENERATED.items():
        assert _read(name) == text(), "run 'make docs'"


def test_every_environment_variable_is_in_the_readme():
    used = set()
    for source in (pages.ROOT / "autotune").rglob("*.py"):
        text = source.read_text(encoding="utf-8")
        used |= set(re.findall(r"AUTOTUNE_[A-Z_]+", text))
        used |= set(re.findall(r"environ\.get\(\"(\w+)\"", text))
    assert used
    assert used <= _first_column(_read("README.md"))


def test_every_exit_code_is_in_the_readme():
    codes = {
        error.exit_code
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, errors.AutotuneError)
    }
    table = set(re.findall(r"^\| (\d+) \|", _read("README.md"), re.MULTILINE))
    assert table == {str(code) for code in codes | {0, 130}}


def test_every_extra_is_in_the_readme():
    extras = tomllib.loads(_read("pyproject.toml"))["project"]["optional-dependencies"]
    assert set(extras) <= _first_column(_section(_read("README.md"), "Install"))


def test_every_key_of_a_study_file_is_documented():
    documented = _first_column(_read("docs/studies.md"))
    assert documented == set(_keys(_Study)) | {"space.NAME", "problems.FIELD"}


def test_the_presets_are_documented():
    stated = re.findall(
        r"^\| `policy\.(\w+)` \| ([\d.]+), ([\d.]+), ([\d.]+) \|",
        _read("docs/studies.md"),
        re.MULTILINE,
    )
    presets = [PRESETS[name] for name in ("quick", "standard", "careful")]
    assert stated
    for name, *values in stated:
        assert [float(value) for value in values] == [getattr(each, name) for each in presets]


def test_the_values_of_problem_fields_are_documented():
    section = _section(_read("docs/studies.md"), "Problems of the kernels that ship")
    words = set(re.findall(r"`([\w-]+)`", section))
    assert {*DTYPES, *LAYOUTS, *stream.DTYPES, *stream.INPUTS} <= words
    for kernel in installed_kernels():
        fields = dataclasses.fields(load_kernel(kernel).problem_type)
        assert {kernel, *(field.name for field in fields)} <= words


def test_every_sampler_and_status_is_documented():
    assert set(SAMPLERS) <= set(re.findall(r"`(\w+)`", _read("docs/search.md")))
    assert {str(s) for s in Status} <= set(re.findall(r"`(\w+)`", _read("docs/architecture.md")))


def test_every_table_and_column_of_a_view_is_documented(tmp_path):
    upgrade(f"sqlite:///{tmp_path}/new.db")
    with closing(sqlite3.connect(tmp_path / "new.db")) as database:
        names = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        tables = {name for (name,) in names}
        columns = {
            view: {row[1] for row in database.execute(f"PRAGMA table_info({view})")}
            for view in ("trial_flat", "best_config")
        }
    page = _read("docs/database.md")
    assert _first_column(_section(page, "Tables")) == tables
    assert columns["trial_flat"] == columns["best_config"] == _first_column(_section(page, "Views"))


def test_every_room_is_in_the_architecture():
    rooms = {path.parent.name for path in (pages.ROOT / "autotune").glob("*/__init__.py")}
    assert rooms == _first_column(_section(_read("docs/architecture.md"), "Rooms"))


def _keys(model, prefix=""):
    for name, field in model.model_fields.items():
        inner = field.annotation
        candidates = [inner, *getattr(inner, "__args__", ())]
        nested = next((c for c in candidates if hasattr(c, "model_fields")), None)
        if nested is None:
            if name != "space":
                yield prefix + name
        else:
            yield from _keys(nested, f"{prefix}{name}.")

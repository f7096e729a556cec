"""Bundles of tables that are made by hand."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from autotune.bundle import write_bundle
from autotune.toolchain import BinaryStore

sys.path.insert(0, str(Path(__file__).parent))  # for the helpers beside the tests
from made_tables import hopper_text, host_text


@pytest.fixture(scope="session")
def binaries(tmp_path_factory):
    """One store of binaries for all tests."""
    return BinaryStore(tmp_path_factory.mktemp("binaries"))


@pytest.fixture(scope="session")
def _host_bundle(tmp_path_factory, binaries):
    folder = tmp_path_factory.mktemp("host")
    (folder / "table.json").write_text(host_text())
    write_bundle(folder / "table.json", folder / "bundle", store=binaries)
    return folder / "bundle"


@pytest.fixture
def host_bundle(_host_bundle, tmp_path):
    """A bundle of the host's kernel that a test may damage."""
    return shutil.copytree(_host_bundle, tmp_path / "bundle")


@pytest.fixture(scope="session")
def hopper_bundle(tmp_path_factory, binaries):
    """A bundle of ``gemm`` for an H200, compiled here. Read it; do not write."""
    folder = tmp_path_factory.mktemp("hopper")
    (folder / "table.json").write_text(hopper_text())
    write_bundle(folder / "table.json", folder / "bundle", store=binaries)
    return folder / "bundle"

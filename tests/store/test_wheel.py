from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
UPGRADE = """
import sys
from pathlib import Path
import autotune
from autotune.store import Store, check, migrate, upgrade

package = Path(autotune.__file__).parent
assert package.is_relative_to(sys.prefix), package
assert migrate.scripts_folder() == package / "_migrations"
upgrade(sys.argv[1])
check(sys.argv[1])
with Store.open(sys.argv[1]) as store:
    assert store.studies() == []
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return the Python of a fresh environment that holds the wheel; the rest is borrowed."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", folder, CHECKOUT],
        check=True,
        capture_output=True,
    )
    [wheel] = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--no-index",
            "--no-deps",
            wheel,
        ],
        check=True,
        capture_output=True,
    )
    [site] = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


@pytest.mark.slow
def test_an_installed_wheel_upgrades_a_database(installed, tmp_path):
    url = f"sqlite:///{tmp_path}/results.db"
    done = subprocess.run(
        [installed, "-I", "-c", UPGRADE, url],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")

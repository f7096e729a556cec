"""Put scores of several runs of ``autotune score`` into one small file, for the page on scores.

    autotune score convolution.json.gz gemm.json.gz --samplers tpe,local --json ours.json
    autotune score convolution.json.gz gemm.json.gz --samplers kernel_tuner:pso --json theirs.json
    python benchmarks/score.py hub=ours.json hub=theirs.json --json benchmarks/results/score.json

The runs of a group must have the same spaces. Repeats and curves are left out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from results_file import write_json

PACKAGES = ("autotune-kernels", "numpy", "optuna")


def main() -> None:
    """Merge the files, print each sampler's mean, and keep them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", metavar="GROUP=FILE")
    parser.add_argument("--kernel-tuner", default="", help="version of Kernel Tuner")
    parser.add_argument("--json", type=Path, required=True)
    arguments = parser.parse_args()
    groups: dict[str, dict[str, Any]] = {}
    for told in arguments.files:
        name, _, file = told.partition("=")
        merge(groups.setdefault(name, {}), json.loads(Path(file).read_text()))
    for name, group in groups.items():
        show(name, group)
    rows = [{"group": name, **group} for name, group in groups.items()]
    about = {"kernel_tuner": arguments.kernel_tuner}
    write_json(arguments.json, rows, packages=PACKAGES, about=about)


def merge(group: dict[str, Any], run: dict[str, Any]) -> None:
    """Add the scores of one run to those of its group.

    Raises:
        SystemExit: It is of other spaces, or began otherwise.
    """
    spaces = [*dict.fromkeys(map(_space, run["scores"]))]
    setting = {name: run[name] for name in ("seed", "prior", "equal_costs")}
    of = {"spaces": [json.loads(space) for space in spaces], **setting}
    if group and any(group[name] != of[name] for name in of):
        raise SystemExit(f"{run['command']}: other spaces, or another setting, than the first run")
    group.update(of)
    group.setdefault("commands", []).append(run["command"])
    samplers = group.setdefault("samplers", {})
    for mean in run["means"]:
        scores = [row for row in run["scores"] if row["sampler"] == mean["sampler"]]
        samplers[mean["sampler"]] = {**mean, "repeats": run["repeats"], "each": _brief(scores)}


def _brief(scores: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = ("score", "interval", "tail", "until", "quality")
    return [{name: _rounded(row[name]) for name in kept} for row in scores]


def _rounded(value: Any) -> Any:
    """Return a value with its floats to four digits after the point."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(value, 4) if isinstance(value, float) else value


def _space(row: dict[str, Any]) -> str:
    names = ("recording", "kernel", "problem", "device", "configs", "right")
    return json.dumps({name: row[name] for name in names})


def show(name: str, group: dict[str, Any]) -> None:
    """Print each sampler's mean over the spaces of a group, the best first."""
    print(f"{name}: {len(group['spaces'])} spaces")
    ranked = sorted(group["samplers"].values(), key=lambda mean: -mean["score"])
    for mean in ranked:
        low, high = mean["interval"]
        scores = "".join(f"{each['score']:8.3f}" for each in mean["each"])
        print(
            f"  {mean['sampler']:38}{mean['score']:8.3f}  ({low:.2f} … {high:.2f})"
            f"{mean['tail']:8.2f} |{scores}"
        )


if __name__ == "__main__":
    main()

"""``autotune export``: what it prints beside the table, and what it refuses."""

from __future__ import annotations

import json

import pytest


def test_a_portfolio_shows_what_fewer_configs_lose(autotune, tuned, here):
    words = ("export", "--out", "out.json", "--db", tuned.url, "--kernels", "3")
    ended = autotune(*words, "--losses", "json")
    [row] = json.loads(ended.out)["portfolios"]
    assert (row["kernel"], row["configs"], row["mean_loss"]) == ("host_matmul", 1, 0.0)
    assert (row["served"], row["problems"]) == (1, 1)
    [entry] = json.loads((here / "out.json").read_text())["kernels"]["host_matmul"]["entries"]
    assert row["chosen"] == [entry["config"]]
    assert "how much slower untuned problems are is not known: there is only one" in ended.err
    assert "1 of 1" in autotune(*words).out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--losses", "json"), "--losses needs --kernels"),
        (("--kernels", "0"), "--kernels"),
        (("--kernels", "2", "--format", "t4"), "--kernels goes with a table only"),
    ],
)
def test_a_choice_that_means_nothing_is_refused(autotune, tuned, here, words, why):
    ended = autotune("export", "--out", "out.json", "--db", tuned.url, *words)
    assert ended.code == 2
    assert why in ended.err
    assert not list(here.iterdir())

from __future__ import annotations

import dataclasses

import pytest

from autotune.records import Config, Rung

TMA = Config(mechanism="tma", stages=3)


def rung(*preferred):
    return Rung(name="tma", where={"mechanism": "tma"}, preferred=preferred, change="", why="")


def test_a_rung_holds_the_configs_that_have_its_values():
    assert rung(TMA).holds(TMA.replace(stages=4))
    assert not rung(TMA).holds(TMA.replace(mechanism="sync1"))
    assert not rung(TMA).holds(Config(stages=3))


def test_a_rung_that_prefers_nothing_cannot_be_shown():
    with pytest.raises(ValueError, match="rung 'tma' prefers no config"):
        rung()


def test_a_rung_prefers_only_its_own():
    with pytest.raises(ValueError, match="prefers mechanism=sync1, which its 'where' excludes"):
        rung(Config(mechanism="tma"), Config(mechanism="sync1"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": 5}, "the name of a rung is printable text, not 5"),
        ({"name": " "}, "the name of a rung is printable text"),
        ({"name": "\x1b[31mred"}, "the name of a rung is printable text"),
        ({"why": "a\nb"}, "rung 'tma' is told in lines of text"),
        ({"where": None}, "'where' maps names to values, not None"),
        ({"preferred": ({"mechanism": "tma"},)}, "rung 'tma' prefers configs"),
    ],
)
def test_a_rung_that_cannot_be_shown_is_not_made(change, words):
    with pytest.raises((TypeError, ValueError), match=words):
        dataclasses.replace(rung(TMA), **change)

"""A space with more valid configs than a search holds."""

from __future__ import annotations

import pytest
from hosted import GOOD, TWINS, Counting, spec

from autotune.study import question, run_study
from autotune.study.question import Question


class Listening(Counting):
    def __init__(self):
        super().__init__()
        self.notes = []

    def note(self, message):
        self.notes.append(message)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(question, "MOST_SEARCHED", 5)


def _searched(host, **changes):
    asked = spec(**changes)
    return Question(asked, asked.problems[0], host).searched()


@pytest.mark.usefixtures("few")
def test_a_search_holds_the_default_and_a_sample_that_follows_from_the_seed(host):
    asked = spec(space=TWINS)
    whole = Question(asked, asked.problems[0], host)
    configs, valid = _searched(host, space=TWINS)
    assert valid == len(list(whole.valid())) > len(configs) >= 5
    assert set(configs) < set(whole.valid())
    assert whole.default.config in configs
    assert _searched(host, space=TWINS) == (configs, valid)
    assert _searched(host, space=TWINS, seed=1) != (configs, valid)


@pytest.mark.usefixtures("few")
def test_a_space_that_a_search_can_hold_is_searched_whole(host):
    configs, valid = _searched(host, space=GOOD)
    assert (len(configs), valid) == (3, 3)


def test_a_study_says_what_it_leaves_out_and_keeps_what_was_recorded(host, store, monkeypatch):
    before = Listening()
    first = run_study(spec(space=GOOD), device=host, store=store, observer=before).problems[0]
    assert not any("drawn uniformly" in note for note in before.notes)

    monkeypatch.setattr(question, "MOST_SEARCHED", 1)
    after = Listening()
    found = run_study(spec(space=GOOD, trials=9), device=host, store=store, observer=after)
    assert found.problems[0].total == first.total == 3
    assert after.seen == []


def test_a_sampled_study_goes_on_with_the_same_sample(host, store, monkeypatch):
    monkeypatch.setattr(question, "MOST_SEARCHED", 1)
    observer = Listening()
    report = run_study(spec(space=GOOD), device=host, store=store, observer=observer).problems[0]
    assert report.valid == 3
    assert 1 <= report.total <= 2
    assert report.default is not None
    assert any("of 3 valid configurations, drawn uniformly" in note for note in observer.notes)
    assert run_study(spec(space=GOOD), device=host, store=store).problems[0].ran == 0

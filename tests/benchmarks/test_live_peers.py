"""Peers that are not there, or that fail, are left out with a line; the others stand in theirs."""

from __future__ import annotations

import json

import live_peers


def test_a_peer_that_is_not_installed_or_fails_is_left_out(capsys):
    assert live_peers._if_it_can("It", "no_such_module", dict) == {}
    assert live_peers._if_it_can("It", "json", lambda: {}["lost"]) == {}
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["left out: It, which is not installed", "left out: It: KeyError('lost')"]
    assert live_peers._if_it_can("It", "json", lambda: {"cold_s": 1.0}) == {"cold_s": 1.0}


def test_a_line_has_a_dash_for_what_was_left_out():
    us = {"autotune": 200.0}
    row = {"m": 1, "n": 2, "k": 3, "autotune": {"cold_s": 9.0, "warm_s": 5.0}, "us": us}
    line = live_peers._line({**row, "Triton": {}, "Kernel Tuner": {}})
    assert len(line) == len(live_peers.HEADING)
    assert line.split() == ["1x2x3", "9.0", "5.0", "–", "–", "–", "–", "200.0", "–", "–"]


def test_what_live_wrote_is_found_by_shape_and_may_be_absent(tmp_path):
    file = tmp_path / "live.json"
    assert live_peers._live_rows(file) == {}
    told = dict.fromkeys(live_peers.OURS, 1.5)
    row = {"m": 1, "n": 2, "k": 3, "dtype": "bf16", **told}
    file.write_text(json.dumps({"provenance": {}, "rows": [row]}))
    assert live_peers._live_rows(file) == {(1, 2, 3): told}


def test_who_is_not_asked_again_keeps_what_was_known(monkeypatch):
    monkeypatch.setattr(live_peers, "PEERS", {"Triton": "json", "Kernel Tuner": "json"})
    tuners = {"Triton": lambda: {"cold_s": 1.0}, "Kernel Tuner": lambda: {"seconds": 2.0}}
    before = {"Triton": {"cold_s": 9.0}, "Kernel Tuner": {}, "provenance": {"date": "2030-01-02"}}
    peers = live_peers._peers(tuners, ["Kernel Tuner"], before)
    assert peers["Triton"] == {"cold_s": 9.0, "provenance": {"date": "2030-01-02"}}
    assert peers["Kernel Tuner"] == {"seconds": 2.0}
    assert live_peers._peers(tuners, ["Kernel Tuner"], {})["Triton"] == {}

from __future__ import annotations

import kills as campaign
from kills import KILLS_OF_ONE, TRIALS, kills


def test_kills_of_the_coordinator_lose_nothing_and_every_study_ends(monkeypatch):
    monkeypatch.setattr(campaign, "ORPHANED_S", 60.0)  # this machine may stall
    found = list(kills(3, seed=1))
    assert [kill for kill in found if not kill.harmless] == []
    killed = [kill for kill in found if kill.killed]
    assert len(killed) == 3 <= KILLS_OF_ONE
    assert found[-1].rows_after == TRIALS

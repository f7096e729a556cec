from __future__ import annotations

import pickle
import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.records import Config

CONFIGS = st.dictionaries(
    st.text(min_size=1, max_size=5), st.one_of(st.integers(), st.text(max_size=5)), max_size=5
)


@settings(deadline=None)
@given(values=CONFIGS, data=st.data())
def test_a_config_does_not_depend_on_the_order_of_its_values(values, data):
    shuffled = dict(data.draw(st.permutations(list(values.items()))))
    one, other = Config(values), Config(shuffled)
    assert one == other
    assert hash(one) == hash(other)
    assert one.key == other.key
    assert str(one) == str(other)
    assert Config(one.as_dict()) == one


@settings(deadline=None)
@given(one=CONFIGS, other=CONFIGS)
def test_keys_are_equal_only_where_configs_are(one, other):
    assert (Config(one).key == Config(other).key) == (Config(one) == Config(other))


def test_a_number_and_its_text_are_different_values():
    assert Config(stages=3).key != Config(stages="3").key


def test_replace_returns_a_changed_copy():
    config = Config(tile=64, stages=3)
    assert config.replace(stages=4) == Config(tile=64, stages=4)
    assert config == Config(tile=64, stages=3)


def test_the_dict_that_a_config_gives_away_is_not_its_own():
    config = Config(tile=64)
    config.as_dict()["tile"] = 1
    assert config["tile"] == 64


def test_a_config_reads_as_what_a_person_would_type():
    assert str(Config(tile=64, loads="async")) == "loads=async tile=64"
    assert repr(Config(tile=64, loads="async")) == "Config(loads='async', tile=64)"


def test_a_config_is_not_equal_to_a_plain_dict():
    assert Config(tile=64) != {"tile": 64}


def test_a_config_that_was_looked_up_is_found_by_another_process_too():
    config = Config(tile=8, copy="tma")
    assert hash(config) == hash(Config(copy="tma", tile=8))
    code = (
        "import pickle, sys; from autotune.records import Config;"
        "sys.exit(pickle.load(sys.stdin.buffer) not in {Config(tile=8, copy='tma')})"
    )
    for seed in "12":
        subprocess.run(
            [sys.executable, "-c", code],
            input=pickle.dumps(config),
            env={"PYTHONHASHSEED": seed},
            check=True,
        )

"""The recording that ships speaks of configs that exist."""

from __future__ import annotations

from autotune.device import recordings
from autotune.store import Store
from kernel_space.gemm import Gemm


def test_every_recorded_config_is_one_of_the_space():
    kernel = Gemm()
    with Store.open(f"sqlite:///{recordings()['h200']}", read_only=True) as store:
        stored = [each for each in store.contexts() if each.context.kernel == kernel.name]
        assert stored
        for each in stored:
            problem = kernel.problem_type.parse(each.context.problem.as_dict())
            space = kernel.space(problem, each.context.device.target)
            for key, trial in store.answers(each).items():
                assert (trial.config.key, space.broken(trial.config)) == (key, None)

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime

import pytest

from autotune.errors import InvalidInput, StoreError
from autotune.interop import Known, import_files
from autotune.records import Config, Status


def ends(rows):
    return [(row.trial.status, row.trial.message) for row in rows]


def test_a_cache_of_kernel_tuner(imported):
    rows, told = imported("cache.json")
    context, first = rows[0].context, rows[0].trial
    assert (context.kernel, context.device.name) == ("blur", "Example GPU 9")
    assert context.problem.as_dict() == {"x": 512, "y": 256}
    assert context.toolchain.compiler == "kernel_tuner"
    assert first.config == Config(block=64, vector="True", unroll="0.5", method="direct")
    assert first.finished_at == datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
    assert (first.compile_ns, first.device_ns) == (410_500_000, 3_250_000)
    assert ends(rows) == [
        (Status.OK, ""),
        (Status.OK, ""),
        (Status.RUNTIME_ERROR, "RuntimeFailedConfig"),
        (Status.COMPILE_ERROR, "CompilationFailedConfig"),
        (Status.CONSTRAINT, "InvalidConfig"),
    ]
    assert (told.best_ns, told.finished, told.repeated) == (10_100.0, True, 0)


def test_a_time_is_what_its_tuner_ranked_by(imported):
    (mean, middle, *_), _ = imported("cache.json")
    assert mean.trial.median_ns == 20_000.0  # of runtimes whose median is 18 µs
    assert mean.trial.measurement.launches_per_sample == 3
    assert middle.trial.measurement.samples_ns == (10_100.0, 10_300.0, 9_900.0)


def test_nothing_that_was_imported_counts_as_verified(imported, store):
    rows, _ = imported("cache.json")
    assert not any(row.trial.verified or row.context.policy.verify for row in rows)
    assert store.best() == []
    assert store.best(unverified=True)[0].trial.number == 1


def test_a_cache_without_its_end(imported):
    rows, told = imported("cache_unfinished.json")
    assert [row.trial.median_ns for row in rows] == [500_000.0, 250_000.0]
    assert not told.finished


def test_a_cache_that_ends_within_a_row_keeps_those_before(store, data, tmp_path):
    text = (data / "cache_unfinished.json").read_text() + '\n"128": {"block": 128, "ti'
    path = tmp_path / "cut.json"
    path.write_text(text)
    (told,) = import_files([path], store)
    assert (sum(told.statuses.values()), told.finished) == (2, False)


def test_an_old_cache_and_its_ways_to_say_failure(imported):
    rows, _ = imported("cache_old.json")
    assert rows[0].trial.config == Config(block=32, vector=1)  # told by the key alone
    assert rows[0].context.device.name == "unknown"
    assert ends(rows) == [
        (Status.OK, ""),
        (Status.RUNTIME_ERROR, "time is 1e+20"),
        (Status.TIMEOUT, "CUDA_ERROR_LAUNCH_TIMED_OUT: timed out"),
        (Status.RESOURCES, "too many resources requested for launch"),
        (Status.RUNTIME_ERROR, "Infinity"),
        (Status.BAD_MEASUREMENT, "time is 0"),
        (Status.RUNTIME_ERROR, "ErrorConfig"),
        (Status.BAD_MEASUREMENT, "no time"),
    ]


def test_t4(imported):
    rows, told = imported("t4.json")
    first = rows[0].trial
    assert first.measurement.samples_ns == (10_500.0, 9_250.0, 11_000.0)
    assert (first.compile_ns, first.device_ns) == (5_000_500, 30_000 + 30_750)
    assert ends(rows[1:]) == [
        (Status.COMPILE_ERROR, "CompilationFailedConfig"),
        (Status.INCORRECT, "correctness"),
        (Status.TIMEOUT, "timeout"),
    ]
    assert (told.kernel, told.device, told.repeated) == ("t4", "unknown", 1)


def test_a_t1_file_describes_the_t4_files_beside_it(imported, store):
    rows, told = imported("t4.json", "t1.json")
    assert (told.kernel, told.problem) == ("stencil", {"x": 1024, "y": 1024})
    assert len(rows) == 4
    spec = next(each.spec for each in store.studies() if each.name == "t4")
    assert spec["imported"]["parameters"]["block"] == [32, 64, 128, 256]
    assert spec["imported"]["default"] == {"block": 128, "stages": 2}


def test_a_t1_file_alone_is_a_space_without_results(imported, store):
    rows, told = imported("t1.json")
    assert (rows, told.format, told.kernel) == ([], "T1", "stencil")
    assert [each.trials for each in store.studies()] == [0]


def test_results_of_ktt(imported):
    rows, told = imported("ktt.json")
    first = rows[0].trial
    assert (told.kernel, told.device, first.median_ns) == ("reduce", "Example GPU 9", 12_500.0)
    assert first.config == Config(WORK=4, SCALE="1.0")
    assert first.resources.registers == 40
    assert (rows[0].context.toolchain.compiler, rows[0].context.toolchain.version) == ("ktt", "2.1")
    assert ends(rows[1:]) == [
        (Status.INCORRECT, "ValidationFailed"),
        (Status.RESOURCES, "DeviceLimitsExceeded"),
    ]


def test_what_a_file_does_not_say_a_person_may(imported):
    known = Known(kernel="mine", device="My GPU", problem={"m": 8}, study="first")
    rows, told = imported("t4.json", known=known)
    assert (told.study, rows[0].context.kernel, rows[0].context.device.name) == (
        *("first", "mine"),
        "My GPU",
    )
    assert rows[0].context.problem.as_dict() == {"m": 8}


def test_gzip_shows_in_the_content_not_in_the_name(store, data, tmp_path):
    path = tmp_path / "packed.json"
    path.write_bytes(gzip.compress((data / "cache.json").read_bytes()))
    (told,) = import_files([path], store)
    assert sum(told.statuses.values()) == 5


CACHE = {"tune_params_keys": ["a"], "tune_params": {"a": [1]}, "cache": {"1": {"a": 1, "time": 1}}}
RESULT = {"configuration": {"a": 1}, "times": {}, "invalidity": "correct", "correctness": 1}
T1 = {"KernelSpecification": {}, "ConfigurationSpace": {"TuningParameters": []}}


def t1(values):
    return {
        "KernelSpecification": {},
        "ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Values": values}]},
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[1, 2]", "must be an object"),
        ("{nonsense", "not JSON"),
        ("", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ({"$schema": "x"}, "'cache' (Kernel Tuner), 'results' (T4)"),
        ({**CACHE, "cache": [1]}, "cache: must be an object"),
        ({**CACHE, "cache": {"1": 7}}, "cache['1']: must be an object, not 7"),
        ({**CACHE, "cache": {"1,2": {"time": 1}}}, "cache['1,2']: names 2 values for 1 parameters"),
        ({**CACHE, "tune_params_keys": 3}, "tune_params_keys must list"),
        ({**CACHE, "tune_params": {"a": [[1]]}}, "parameter 'a': [1] is no number"),
        ({**CACHE, "tune_params": {"a": [True, "True"]}}, "cannot be told apart"),
        ({**CACHE, "problem_size": {"x": 1}}, "problem_size: must be a number or a list"),
        ({**CACHE, "kernel_name": "a::b"}, "'a::b' cannot be a kernel's name"),
        ({"results": 1}, "results must be a list"),
        ({"results": [{**RESULT, "invalidity": "odd"}]}, "results[0]: invalidity must be one of"),
        ({"results": [{"configuration": {}}]}, "results[0]: 'times' is missing"),
        ({"results": [{**RESULT, "times": {"framework": "1"}}]}, "times.framework must be a num"),
        ({"results": [RESULT], "metadata": {"timeunit": "days"}}, "timeunit: must be one of"),
        ({"results": [RESULT, {**RESULT, "configuration": {"b": 1}}]}, "'b' is missing"),
        ({"results": [RESULT], "schema_version": "2.0.0"}, "schema_version must be 1.x.y"),
        ({"Results": [{"Status": "Odd"}], "Metadata": {}}, "Results[0]: unknown Status 'Odd'"),
        ({"Results": []}, "Metadata: must be an object"),
        (T1, "TuningParameters: must be a list of parameters"),
        (t1("__import__('os').system('touch ran')"), "must be a list of values"),
        (t1("[__import__('os') for i in range(3)]"), "must be a list of values"),
        (t1("[i for i in range(10**9)]"), "more than 100000 values"),
        (t1("[2**10**9]"), "a power above 64"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_a_line(store, tmp_path, content, said):
    path = tmp_path / "given.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(InvalidInput) as refused:
        list(import_files([path], store))
    assert said in refused.value.message
    assert refused.value.message.startswith(str(path))
    assert "\n" not in refused.value.message
    assert (store.studies(), store.contexts()) == ([], [])


@pytest.mark.parametrize("content", [b"\x1f\x8b\x08\x00garbage", b"\xff\xfe{}"])
def test_a_damaged_file_is_refused_in_a_line(store, tmp_path, content):
    path = tmp_path / "given.json.gz"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"damaged gzip file|not UTF-8"):
        list(import_files([path], store))


def test_the_same_file_twice_is_refused_with_the_way_out(imported, store):
    imported("cache.json")
    with pytest.raises(StoreError, match="has a study 'cache' already") as refused:
        imported("cache.json")
    assert "--study" in refused.value.hint
    assert len(store.rows()) == 5


def test_numbers_beyond_any_clock_are_failures_and_break_nothing(store, tmp_path):
    path = tmp_path / "huge.json"
    rows = {"1": {"a": 1, "time": 1, "compile_time": 10**400}, "2": {"a": 2, "time": 10**400}}
    text = json.dumps({**CACHE, "tune_params": {"a": [1, 2, 3]}, "cache": rows})
    path.write_text(text.replace("}}}", '}, "3": {"a": 3, "time": 1e400, "times": [1e999]}}}'))
    list(import_files([path], store))
    trials = [row.trial for row in store.rows()]
    assert [trial.status for trial in trials] == [
        Status.OK,
        Status.BAD_MEASUREMENT,
        Status.RUNTIME_ERROR,
    ]
    assert trials[0].compile_ns == 0

"""Record trials until done or killed: ``writer_process.py URL STUDY COUNT``.

Each number is printed after its row is committed.
"""

from __future__ import annotations

import sys

import store_samples as samples

from autotune.store import Store


def main(url, study, count):
    with Store.open(url) as store:
        study_id = store.begin_study(study, **samples.STUDY)
        context = samples.context()
        for number in range(count):
            store.record(study_id, context, samples.ok(number))
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

"""Verification: every candidate is proved right before it is timed."""

from __future__ import annotations

from autotune.verify.case import Arrays
from autotune.verify.dtypes import decode, encode, stored_dtype
from autotune.verify.exam import Exam
from autotune.verify.guard import Guarded
from autotune.verify.verifier import Verifier

__all__ = ["Arrays", "Exam", "Guarded", "Verifier", "decode", "encode", "stored_dtype"]

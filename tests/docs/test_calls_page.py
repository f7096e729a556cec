"""The page on calls sets every figure beside torch's of the same run."""

from __future__ import annotations

from calls import lines


def test_a_call_and_a_pass_are_set_beside_torch():
    rows = [
        {"kind": "lookup", "name": "seen", "us": 0.14, "low_us": 0.13},
        {"kind": "call", "name": "torch.mm(out=)", "us": 12.5, "low_us": 12.0},
        {"kind": "call", "name": "ours", "us": 7.5, "low_us": 7.0},
        {"kind": "forward", "name": "torch, eager", "us": 400.0, "low_us": 390.0, "apart": 0.0},
        {"kind": "forward", "name": "ours", "us": 300.0, "low_us": 299.0, "apart": 0.00123},
    ]
    assert [line[2:] for line in lines(rows)][1:] == [
        ["0.14", "0.13", "", ""],
        ["12.5", "12.0", "1.00", ""],
        ["7.50", "7.00", "0.60", ""],
        ["400.0", "390.0", "1.00", "0.0000"],
        ["300.0", "299.0", "0.75", "0.0012"],
    ]

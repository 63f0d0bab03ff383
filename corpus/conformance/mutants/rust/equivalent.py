"""Mutants of `sframe-validator`'s reader that give the same answers, by reason. The keys are those that `mutate_rust.py`
prints."""

REASONS = {}

EQUIVALENT = {key: reason for reason, keys in REASONS.items() for key in keys}

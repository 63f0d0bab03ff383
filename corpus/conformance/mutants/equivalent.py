"""Mutants."""
EQUIVALENT = {}

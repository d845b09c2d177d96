"""Scenarios: steps as data, triggers, checks, their YAML form, and the engine that plays them on a line."""

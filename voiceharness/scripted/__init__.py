"""Scripted doubles: deterministic stand-ins for a realtime transport, a model, a session.

Import what you need from the modules themselves; this package imports nothing, so that asking for one double does not
load the others.
"""

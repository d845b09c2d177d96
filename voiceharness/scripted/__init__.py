"""Scripted doubles: deterministic stand-ins for a realtime transport, a model, a session.

=====================  ===================================================================================
module                 what for
=====================  ===================================================================================
``transport``          ``ScriptedRealtimeTransport``: both sides of a realtime voice transport, in memory
``calls``, ``inbound`` what goes out over it, and what comes in: one frozen class for each
``simulated_agent``    a small agent behind it that answers in paced speech, for one-sided tests
``turns``, ``sounds``  a spoken turn as events, and the audio in it
``recorder``,          record a live transport, compare recordings, replay one as a script
``recording``
``model``              ``ScriptedModel``: each call takes the next step
``session``            ``scripted_session``: a double of any interface, each call takes the next step
``pytest_fixtures``    factories that check their doubles in teardown
``kernel``             what all of them are made of, and how it works; for doubles of your own
``errors``             what they raise
=====================  ===================================================================================

Import from the modules; this package imports nothing, so that one double does not load the others.
"""

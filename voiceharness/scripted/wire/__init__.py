"""The scripted realtime transport behind a real websocket that speaks the OpenAI Realtime events.

What is normalised stays free of any protocol; the protocol is here. ``server`` serves a scenario, ``provider`` is the
provider's side of the conversation as a state machine without sockets, ``frames`` and ``requests`` translate.
"""

"""Media Streams: a carrier and an agent exchange a call's audio as JSON messages over a websocket.

Both ends as state machines without I/O (:mod:`.machine`), the messages as values (:mod:`.messages`), each vendor's
vocabulary as a table (:mod:`.dialects`), TwiML (:mod:`.twiml`) and the request signature (:mod:`.signature`).
"""

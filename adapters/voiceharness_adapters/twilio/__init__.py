"""Calls over a Twilio Media Stream: the carrier played to an agent, agents served as one, and real calls."""

from voiceharness_adapters.twilio.adapter import Twilio
from voiceharness_adapters.twilio.agent_app import TwilioAgentApp
from voiceharness_adapters.twilio.host import host
from voiceharness_adapters.twilio.phone import TwilioPhone
from voiceharness_adapters.twilio.phone_host import phone_dialler, phone_host
from voiceharness_adapters.twilio.phone_number import TwilioNumber

__all__ = ["Twilio", "TwilioAgentApp", "TwilioNumber", "TwilioPhone", "host", "phone_dialler", "phone_host"]

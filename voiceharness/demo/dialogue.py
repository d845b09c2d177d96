"""What the appointment line says: a small dialogue that knows neither sound nor time.

Theory of operation. Three questions, one after the other; each answer that is understood leads to the next.

=========  ===========================================  =====================================
waits for  understood                                   then
=========  ===========================================  =====================================
need       a word for booking                           asks for the day
day        a weekday                                    confirms it, asks for the number
number     four digits, pressed or spoken               confirms both, says goodbye, hangs up
=========  ===========================================  =====================================

What is not understood, and a user who says nothing, gets the question again; after the third time in a row the line
gives up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["Dialogue", "Reply", "Waiting"]

Waiting = Literal["need", "day", "number"]

GREETING: Final = "Thank you for calling Lakeside Dental. How can I help you today?"
NUMBER_LENGTH: Final = 4
PATIENCE: Final = 3
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
BOOKING: Final = re.compile(r"\b(book\w*|appointments?|schedule\w*|visit|check-?up|see (a|the) dentist)\b")
DAY: Final = re.compile(rf"\b({'|'.join(DAYS)})s?\b", re.IGNORECASE)
STOP: Final = re.compile(r"\b(stop|wait|hold on|excuse me|sorry|hello)\b")
FAREWELL: Final = re.compile(r"\b(good-? ?bye|bye|nothing|never ?mind)\b")
SPOKEN_DIGITS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
QUESTIONS: Final[dict[Waiting, str]] = {
    "need": "How can I help you today?",
    "day": "Which day would you like to come in?",
    "number": "Please enter your four digit member number on your keypad.",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """What the line says next; with ``hang_up`` it ends the call afterwards."""

    text: str
    hang_up: bool = False


class Dialogue:
    """The state of one conversation."""

    def __init__(self) -> None:
        self.waiting: Waiting = "need"
        self._day = ""
        self._digits = ""
        self._misses = 0

    def greeting(self) -> Reply:
        """Say who this is and ask the first question."""
        return Reply(GREETING)

    def understands(self, text: str) -> bool:
        """Say whether a text means something here and now; a listener's "mm-hmm" does not."""
        lowered = text.lower()
        patterns = {"need": BOOKING, "day": DAY, "number": re.compile(r"\d")}
        found = (patterns[self.waiting], STOP, FAREWELL)
        return any(pattern.search(lowered) for pattern in found)

    def heard(self, text: str) -> Reply:
        """Answer what the user said."""
        lowered = text.lower()
        if self.waiting == "need" and BOOKING.search(lowered):
            return self._next("day", f"Sure, I can do that. {QUESTIONS['day']}")
        if self.waiting == "day" and (found := DAY.search(text)):
            self._day = found[1].capitalize()
            return self._next("number", f"{self._day}, very good. {QUESTIONS['number']}")
        if self.waiting == "number" and len(digits := _digits_in(lowered)) == NUMBER_LENGTH:
            return self._confirmed(digits)
        if FAREWELL.search(lowered):
            return Reply("Thank you for calling. Goodbye.", hang_up=True)
        if STOP.search(lowered):
            return self._again("Of course.")
        return self._again("Sorry, I did not get that.")

    def pressed(self, digit: str) -> Reply | None:
        """Take a key; None: more keys are needed, or none was asked for."""
        if self.waiting != "number" or not digit.isdecimal():
            return None
        self._digits += digit
        return self._confirmed(self._digits) if len(self._digits) == NUMBER_LENGTH else None

    def silence(self) -> Reply:
        """Ask a user who says nothing once more."""
        return self._again("Are you still there?")

    def _next(self, waiting: Waiting, text: str) -> Reply:
        self.waiting, self._misses = waiting, 0
        return Reply(text)

    def _again(self, excuse: str) -> Reply:
        self._misses += 1
        self._digits = ""
        if self._misses >= PATIENCE:
            return Reply("I am sorry that I could not help. Goodbye.", hang_up=True)
        return Reply(f"{excuse} {QUESTIONS[self.waiting]}")

    def _confirmed(self, digits: str) -> Reply:
        number = ", ".join(digits)
        text = f"Thank you. You are booked for {self._day}, member number {number}. Goodbye."
        return Reply(text, hang_up=True)


def _digits_in(text: str) -> str:
    words = re.findall(r"\d|[a-z]+", text)
    spoken = [str(SPOKEN_DIGITS.index(word)) if word in SPOKEN_DIGITS else word for word in words]
    return "".join(word for word in spoken if word.isdecimal())

"""The demo's dialogue: what it understands, what it says, and when it gives up."""

from __future__ import annotations

import pytest

from voiceharness.demo.dialogue import Dialogue, Reply

__all__: list[str] = []


def after(*heard: str) -> Dialogue:
    """A dialogue in which some things have been said."""
    dialogue = Dialogue()
    for text in heard:
        dialogue.heard(text)
    return dialogue


def pressed(dialogue: Dialogue, digits: str) -> list[Reply | None]:
    return [dialogue.pressed(digit) for digit in digits]


def test_a_whole_conversation() -> None:
    dialogue = Dialogue()
    assert "How can I help you today?" in dialogue.greeting().text
    assert "Which day" in dialogue.heard("I would like to book an appointment.").text
    assert dialogue.heard("On Tuesday, please.").text.startswith("Tuesday, very good.")
    *waiting, last = pressed(dialogue, "1234")
    assert waiting == [None, None, None]
    assert last == Reply("Thank you. You are booked for Tuesday, member number 1, 2, 3, 4. Goodbye.", hang_up=True)


@pytest.mark.parametrize(
    "text",
    ["I'd like to make an appointment.", "Booking, please.", "Can I schedule a visit?", "I need a check-up.", "BOOK"],
)
def test_ways_to_ask_for_an_appointment(text: str) -> None:
    dialogue = after(text)
    assert dialogue.waiting == "day"


@pytest.mark.parametrize(("text", "day"), [("friday", "Friday"), ("Mondays at 10.", "Monday"), ("SUNDAY!", "Sunday")])
def test_ways_to_name_a_day(text: str, day: str) -> None:
    assert after("book").heard(text).text.startswith(f"{day}, very good.")


@pytest.mark.parametrize("text", ["1234", "1, 2, 3, 4.", "one two three four", "It is one, two, 3 and four."])
def test_the_number_may_be_spoken_too(text: str) -> None:
    assert "member number 1, 2, 3, 4" in after("book", "Tuesday").heard(text).text


@pytest.mark.parametrize("text", ["123", "12345", "one two", "no"])
def test_a_number_of_another_length_is_asked_for_again(text: str) -> None:
    reply = after("book", "Tuesday").heard(text)
    assert reply == Reply("Sorry, I did not get that. Please enter your four digit member number on your keypad.")


def test_keys_count_only_where_they_were_asked_for() -> None:
    dialogue = after("book")
    assert pressed(dialogue, "1234") == [None] * 4
    dialogue.heard("Tuesday")
    assert pressed(dialogue, "*#A") == [None] * 3
    assert pressed(dialogue, "5678")[-1] == Reply(
        "Thank you. You are booked for Tuesday, member number 5, 6, 7, 8. Goodbye.", hang_up=True
    )


def test_a_number_that_was_not_finished_is_begun_anew() -> None:
    dialogue = after("book", "Tuesday")
    pressed(dialogue, "12")
    dialogue.silence()
    assert pressed(dialogue, "3456")[-1] is not None


def test_who_wants_to_stop_gets_the_question_again() -> None:
    assert after("book").heard("Wait, wait!") == Reply("Of course. Which day would you like to come in?")


def test_who_says_goodbye_is_let_go() -> None:
    assert after("book").heard("Never mind, good-bye.") == Reply("Thank you for calling. Goodbye.", hang_up=True)


def test_silence_is_asked_about_twice_and_then_given_up() -> None:
    dialogue = Dialogue()
    replies = [dialogue.silence() for _ in range(3)]
    assert [reply.hang_up for reply in replies] == [False, False, True]
    assert replies[0].text == "Are you still there? How can I help you today?"


def test_being_understood_restores_patience() -> None:
    dialogue = after("what", "what", "book", "what", "what")
    assert not dialogue.heard("Tuesday").hang_up
    assert dialogue.waiting == "number"


@pytest.mark.parametrize(
    ("waiting_for", "text", "meant"),
    [
        ((), "Mm.", False),
        ((), "Yeah.", False),
        ((), "I want to book.", True),
        ((), "Stop!", True),
        (("book",), "Tuesday", True),
        (("book",), "Okay.", False),
        (("book", "Tuesday"), "1234", True),
        (("book", "Tuesday"), "Uh-huh", False),
    ],
)
def test_a_listeners_word_means_nothing_and_an_answer_does(
    waiting_for: tuple[str, ...], text: str, meant: bool
) -> None:
    assert after(*waiting_for).understands(text) is meant

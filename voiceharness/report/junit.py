"""A suite as JUnit XML: failure for an unmet expectation, error for everything else that broke, skipped for
what the adapter does not support. ``type`` is the outcome or the kind of the first unmet expectation.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from voiceharness.report.console import call_text
from voiceharness.report.printable import printable

if TYPE_CHECKING:
    from voiceharness.report.document import CallDocument
    from voiceharness.report.suite import SuiteCall, SuiteDocument

__all__ = ["junit_bytes"]


def junit_bytes(suite: SuiteDocument) -> bytes:
    """Write a suite as JUnit XML in UTF-8. Times are those of the calls, in seconds on the line."""
    calls = [each["call"] for each in suite["calls"]]
    verdicts = [_verdict(call) for call in calls]
    totals = {
        "tests": str(len(calls)),
        "failures": str(verdicts.count("failure")),
        "errors": str(verdicts.count("error")),
        "skipped": str(verdicts.count("skipped")),
        "time": f"{sum(map(_duration, calls)):.3f}",
    }
    root = ElementTree.Element("testsuites", totals)
    element = ElementTree.SubElement(root, "testsuite", {"name": printable(suite["name"]), **totals})
    for each in suite["calls"]:
        _add_case(element, each, suite["name"])
    ElementTree.indent(root, " ")
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _verdict(call: CallDocument) -> str:
    match call["outcome"]:
        case "passed":
            return ""
        case "failed":
            return "failure"
        case "unsupported":
            return "skipped"
    return "error"


def _duration(call: CallDocument) -> float:
    return 0.0 if call["metrics"] is None else call["metrics"]["duration"]


def _add_case(suite: ElementTree.Element, each: SuiteCall, suite_name: str) -> None:
    call, file = each["call"], each["file"]
    names = {
        "classname": printable(PurePath(file).stem if file else suite_name),
        "name": printable(call["scenario"]),
        "time": f"{_duration(call):.3f}",
    }
    case = ElementTree.SubElement(suite, "testcase", names | ({"file": printable(file)} if file else {}))
    properties = ElementTree.SubElement(case, "properties")
    facts = {"adapter": call["adapter"], "outcome": call["outcome"], "seed": call["seed"], "evidence": each["folder"]}
    for name, value in facts.items():
        if value is not None:
            ElementTree.SubElement(properties, "property", {"name": name, "value": printable(str(value))})
    if verdict := _verdict(call):
        _add_verdict(case, verdict, call)
    ElementTree.SubElement(case, "system-out").text = call_text(call)


def _add_verdict(case: ElementTree.Element, verdict: str, call: CallDocument) -> None:
    unmet = [check["kind"] for check in call["checks"] if not check["passed"]]
    kind = unmet[0] if verdict == "failure" and unmet else call["outcome"]
    explanation = printable(call["explanation"])
    first_line = explanation.partition("\n")[0]
    element = ElementTree.SubElement(case, verdict, {"type": printable(kind), "message": first_line})
    element.text = explanation

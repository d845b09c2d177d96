"""A suite as JUnit XML: failure for an unmet expectation, error for everything else that broke, skipped for
what the adapter does not support. ``type`` is the outcome or the kind of the first unmet expectation.

Of a suite file, each limit of all calls is a case too, and so is each call that the run did not come to (an error).
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from voiceharness.report.cells import cell_text
from voiceharness.report.console import call_text, contribution_text
from voiceharness.report.interruption import shown_outcome
from voiceharness.report.printable import printable

if TYPE_CHECKING:
    from voiceharness.report.cells import Cell
    from voiceharness.report.document import CallDocument
    from voiceharness.report.limits import LimitDocument
    from voiceharness.report.suite import MissingCall, SuiteCall, SuiteDocument

__all__ = ["junit_bytes"]


def junit_bytes(suite: SuiteDocument) -> bytes:
    """Write a suite as JUnit XML in UTF-8. Times are those of the calls, in seconds on the line."""
    root = ElementTree.Element("testsuites")
    element = ElementTree.SubElement(root, "testsuite", {"name": printable(suite["name"])})
    for each in suite["calls"]:
        _add_case(element, each, suite["name"])
    for missing in suite.get("missing", ()):
        _add_missing(element, missing)
    for limit in suite.get("limits", ()):
        _add_limit(element, limit, suite["name"])
    totals = {
        "tests": str(len(element)),
        "failures": str(len(list(element.iter("failure")))),
        "errors": str(len(list(element.iter("error")))),
        "skipped": str(len(list(element.iter("skipped")))),
        "time": f"{sum(_duration(each['call']) for each in suite['calls']):.3f}",
    }
    for counted in (root, element):
        counted.attrib.update(totals)
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
        "name": printable(_name(call["scenario"], each.get("cell"))),
        "time": f"{_duration(call):.3f}",
    }
    case = ElementTree.SubElement(suite, "testcase", names | ({"file": printable(file)} if file else {}))
    properties = ElementTree.SubElement(case, "properties")
    facts = {
        "adapter": call["adapter"],
        "outcome": shown_outcome(call),
        "seed": call["seed"],
        "evidence": each["folder"],
        "unsaved": each.get("unsaved"),
    }
    if "cell" in each:
        facts |= {"label": each["cell"]["adapter"], "line": each["cell"]["line"]}
    facts |= {"made": each.get("made"), "before": ", ".join(one["outcome"] for one in each.get("before", ())) or None}
    for name, value in facts.items():
        if value is not None:
            ElementTree.SubElement(properties, "property", {"name": name, "value": printable(str(value))})
    if verdict := _verdict(call):
        _add_verdict(case, verdict, call)
    ElementTree.SubElement(case, "system-out").text = call_text(call)


def _name(scenario: str, cell: Cell | None) -> str:
    return scenario if cell is None else f"{scenario} [{cell_text(cell)}]"


def _add_missing(suite: ElementTree.Element, missing: MissingCall) -> None:
    name = _name(missing["scenario"], missing["cell"])
    names = {"classname": printable(PurePath(missing["cell"]["file"]).stem), "name": printable(name), "time": "0.000"}
    case = ElementTree.SubElement(suite, "testcase", names)
    ElementTree.SubElement(case, "error", {"type": "not_made", "message": "the run ended before this call was made"})


def _add_limit(suite: ElementTree.Element, limit: LimitDocument, suite_name: str) -> None:
    names = {"classname": printable(suite_name), "name": f"limit {limit['kind']}", "time": "0.000"}
    case = ElementTree.SubElement(suite, "testcase", names)
    element = {"broken": "failure", "not_judged": "skipped"}.get(limit["verdict"])
    if element is not None:
        told = printable(limit["explanation"])
        found = ElementTree.SubElement(case, element, {"type": limit["kind"], "message": told})
        found.text = printable("\n".join((told, *map(contribution_text, limit["calls"]))))


def _add_verdict(case: ElementTree.Element, verdict: str, call: CallDocument) -> None:
    unmet = [check["kind"] for check in call["checks"] if not check["passed"]]
    kind = unmet[0] if verdict == "failure" and unmet else shown_outcome(call)
    explanation = printable(call["explanation"])
    first_line = explanation.partition("\n")[0]
    element = ElementTree.SubElement(case, verdict, {"type": printable(kind), "message": first_line})
    element.text = explanation

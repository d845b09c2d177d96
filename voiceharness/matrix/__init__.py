"""The capability matrix: what adapters declare, held against what calls have shown."""

from voiceharness.matrix.cell import VERDICTS, Cell, Proof, Verdict
from voiceharness.matrix.diff import Change, differences
from voiceharness.matrix.document import (
    MatrixDocument,
    column_name,
    exit_code,
    load_matrix,
    matrix_document,
    replaced,
    schema,
)
from voiceharness.matrix.probe import Probe
from voiceharness.matrix.probes import PROBES
from voiceharness.matrix.probes.audits import audit_probes
from voiceharness.matrix.probing import Column, probe_adapter, troubled_column
from voiceharness.matrix.subject import Subject

__all__ = [
    "PROBES",
    "VERDICTS",
    "Cell",
    "Change",
    "Column",
    "MatrixDocument",
    "Probe",
    "Proof",
    "Subject",
    "Verdict",
    "audit_probes",
    "column_name",
    "differences",
    "exit_code",
    "load_matrix",
    "matrix_document",
    "probe_adapter",
    "replaced",
    "schema",
    "troubled_column",
]

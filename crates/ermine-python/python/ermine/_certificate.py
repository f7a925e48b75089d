"""The certificate of a fit: what was minimized, its value, and what is proven about it."""

from typing import Any, NamedTuple


class Certificate(NamedTuple):
    """The certificate of a fit: the objective, its convergence and what is proven.

    Attributes
    ----------
    objective : str
        What was minimized.
    value : float or None
        Its value on the training data.
    converged : bool
        Whether the fit converged, or an exact method finished.
    stopped_at : str or None
        The limit at which the fit stopped before converging.
    proofs : list of dict
        What is proven, one statement each.
    notes : list of str
        What else a careful user should know.
    text : str
        All of this as a statement; ``print(model.certificate_)`` shows it.
    """

    objective: str
    value: float | None
    converged: bool
    stopped_at: str | None
    proofs: list[dict[str, Any]]
    notes: list[str]
    text: str

    @classmethod
    def of(cls, header: dict[str, Any], text: str) -> "Certificate":
        """The certificate in the header of a model file."""
        status = header["status"]
        stopped_at = status["limit"] if isinstance(status, dict) else None
        proofs = [proof if isinstance(proof, dict) else {proof: None} for proof in header["proofs"]]
        return cls(header["objective"], header["value"], stopped_at is None, stopped_at, proofs, header.get("notes", []), text)

    def __str__(self) -> str:
        return self.text

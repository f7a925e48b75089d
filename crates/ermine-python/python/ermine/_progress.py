"""Progress of a fit: a progress line, and steps for callbacks."""

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

#: Characters of the bar itself.
WIDTH = 30
#: Minimum time between two progress lines, in seconds, if stderr is not a terminal.
SELDOM = 10.0


class Step(NamedTuple):
    """A step of a fit, as passed to callbacks."""

    #: What is being done: "boosting", "trees", ...
    what: str
    #: How many steps are done.
    done: int
    #: Total number of steps; None if unknown.
    total: int | None
    #: Name of the score; None without a score.
    score_name: str | None
    #: A score after this step, such as the loss on the validation set.
    score: float | None


def each(callbacks: Sequence[Callable[[Step], Any]]) -> Callable[..., None]:
    """All callbacks as one function."""

    def tell(what: str, done: int, total: int | None, score: tuple[str, float] | None) -> None:
        step = Step(what or "iterations", done, total, *(score or (None, None)))
        for callback in callbacks:
            callback(step)

    return tell


def _is_interactive() -> bool:
    """Whether a line that is drawn over itself is seen so: on a terminal, and in a notebook."""
    return "ipykernel" in sys.modules or sys.stderr.isatty()


class Bar:
    """Draws ``what [=====     ] 50/100  loss 0.12  3.2s, 3.1s left`` over itself. Plain text on standard error: notebooks show it too."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.drawn = 0
        self.last = ""
        self.interactive = _is_interactive()
        self.written = self.start

    def __call__(self, what: str, done: int, total: int | None, score: tuple[str, float] | None) -> None:
        what = what or "iterations"
        seconds = time.monotonic() - self.start
        bar = f"[{'=' * (WIDTH * done // total):{WIDTH}}] {done}/{total}" if total else f"{done}"
        score_text = f"  {score[0]} {score[1]:.6g}" if score else ""
        left = f", {seconds * (total - done) / done:.0f}s left" if total and 0 < done < total and seconds > 1 else ""
        self.last = f"{what} {bar}{score_text}  {seconds:.1f}s{left}"
        if self.interactive:
            self._draw()
        elif time.monotonic() - self.written > SELDOM:
            self.written = time.monotonic()
            sys.stderr.write(self.last + "\n")

    def _draw(self) -> None:
        import shutil

        # A line that is longer than the terminal would not be drawn over.
        line = self.last[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write("\r" + line.ljust(self.drawn))
        sys.stderr.flush()
        self.drawn = len(line)

    def close(self) -> None:
        """Ends the line."""
        if self.last:
            sys.stderr.write("\n" if self.interactive else self.last + "\n")
            sys.stderr.flush()

"""A line on the terminal that shows how far a fit has come."""

import sys
import time

WIDTH = 30


class Bar:
    """Draws ``what [=====     ] 50/100  loss 0.12  3.2s`` over itself. Plain text on standard error: notebooks show it too."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.drawn = 0

    def __call__(self, what: str, done: int, total: int | None, score: tuple[str, float] | None) -> None:
        bar = f"[{'=' * (WIDTH * done // total):{WIDTH}}] {done}/{total}" if total else f"{done}"
        said = f"  {score[0]} {score[1]:.6g}" if score else ""
        line = f"{what} {bar}{said}  {time.monotonic() - self.start:.1f}s"
        sys.stderr.write("\r" + line.ljust(self.drawn))
        sys.stderr.flush()
        self.drawn = len(line)

    def close(self) -> None:
        """Ends the line."""
        if self.drawn:
            sys.stderr.write("\n")
            sys.stderr.flush()

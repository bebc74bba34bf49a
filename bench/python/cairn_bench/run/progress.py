"""What stderr shows while a matrix runs: a bar by `rich`, where that is installed, else lines."""

import sys
import time

from ..terminal import printable, tell


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Lines:
    """A line whenever a round has ended, and for each cell that fails."""

    def __init__(self, total):
        self.total = total
        self.done = 0
        self.begin = time.monotonic()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def starts(self, text):
        pass

    def note(self, text):
        tell(text)

    def advance(self, steps=1):
        self.done += steps

    def grow(self, steps):
        """More work than was known at the start."""
        self.total += steps

    def round_ends(self, number, rounds):
        spent = time.monotonic() - self.begin
        left = spent / max(self.done, 1) * (self.total - self.done)
        self.note(
            f"round {number} of {rounds}: {self.done} of {self.total} runs, "
            f"{clock(spent)} gone, about {clock(left)} left"
        )


class Bar(Lines):
    """The same as a bar, for a terminal."""

    def __init__(self, total, rich_progress, escape):
        super().__init__(total)
        self.escape = escape  # of rich's own markup, such as [link]
        self.rich = rich_progress.Progress(
            rich_progress.TextColumn("{task.description}"),
            rich_progress.BarColumn(),
            rich_progress.MofNCompleteColumn(),
            rich_progress.TimeRemainingColumn(),
            console=rich_progress.Console(stderr=True),
            transient=True,
        )
        self.task = self.rich.add_task("", total=total)

    def __enter__(self):
        self.rich.start()
        return self

    def __exit__(self, *_):
        self.rich.stop()

    def starts(self, text):
        self.rich.update(self.task, description=self.escape(printable(text)))

    def note(self, text):
        text = printable(text)
        self.rich.console.print(f"cairn bench: {text}", markup=False, highlight=False)

    def advance(self, steps=1):
        super().advance(steps)
        self.rich.advance(self.task, steps)

    def grow(self, steps):
        super().grow(steps)
        self.rich.update(self.task, total=self.total)

    def round_ends(self, number, rounds):
        pass


def of(total):
    if sys.stderr.isatty():
        try:
            import rich.console
            import rich.markup
            import rich.progress

            rich.progress.Console = rich.console.Console
            return Bar(total, rich.progress, rich.markup.escape)
        except ImportError:
            pass
    return Lines(total)

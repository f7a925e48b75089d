"""The studio as a program, and Chromium to look at it. Without Chromium the tests are skipped."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[4]
PROGRAM = Path(os.environ.get("ERMINE_PROGRAM", ROOT / "target" / "debug" / "ermine"))
CHROMIUM = os.environ.get("ERMINE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


class Studio:
    """`ermine studio` in a folder."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.arguments = arguments
        self.start()

    def start(self) -> None:
        """Starts the program; the port stays the same, so that open pages find it again."""
        port = [] if not hasattr(self, "port") else ["--port", str(self.port)]
        command = [str(PROGRAM), "studio", "--no-browser", *port, *self.arguments]
        self.process = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if "http://" in line:
                self.url = "http://" + line.split("http://")[1].strip()
                self.port = int(self.url.split(":")[2].split("/")[0])
                return
        raise RuntimeError(f"the studio ended with {self.process.wait()}")

    def kill(self) -> None:
        """Ends the program without a warning, as `kill -9` does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (apt-get install chromium, or set ERMINE_CHROMIUM)")
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built (cargo build -p ermine-cli)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("penguins.csv", "flights.csv"):
        shutil.copy(ROOT / "examples" / "data" / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def studio(folder: Path) -> Iterator[Studio]:
    studio = Studio(folder)
    yield studio
    studio.stop()


class Console:
    """Errors and warnings that pages wrote to the console, and errors that nobody caught."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.expected: list[str] = []

    def expect(self, text: str) -> None:
        """A test provokes this: Chromium logs every response with an error status."""
        self.expected.append(text)

    def listen(self, page: Page) -> None:
        def on_console(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning") and not any(text in message.text for text in self.expected):
                self.errors.append(f"{page.url}: {message.text}")

        page.on("console", on_console)
        page.on("pageerror", lambda error: self.errors.append(f"{page.url}: {error}"))


@pytest.fixture
def console() -> Console:
    return Console()


@pytest.fixture
def context(browser: Browser, console: Console) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(30_000)
    context.on("page", console.listen)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, studio: Studio, console: Console) -> Iterator[Page]:
    page = context.new_page()
    page.goto(studio.url)
    yield page
    assert console.errors == []

"""Makes the reference of the command line from what `ermine --help` and `ermine COMMAND --help` print."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: An option or argument, and what is in the same line about it: `  -o, --output <FILE>  Where to save`.
ENTRY = re.compile(r"^ {2,6}((?:-|<)\S.*?)(?: {2,}(.*))?$")
#: A heading of a section of help.
HEADING = re.compile(r"^([A-Z][\w ,-]*):$")


def program():
    """The program: the one in the environment variable ERMINE, or the newest that is built here."""
    if "ERMINE" in os.environ:
        return Path(os.environ["ERMINE"])
    built = [path for kind in ("release", "debug") if (path := ROOT / "target" / kind / "ermine").exists()]
    if not built:
        raise SystemExit("the program is not built: run `cargo build --release -p ermine-cli`")
    return max(built, key=lambda path: path.stat().st_mtime)


def help_of(*command):
    return subprocess.run([program(), *command, "--help"], capture_output=True, text=True, check=True).stdout


def commands():
    listed = help_of().split("Commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines() if re.match(r"  \w", line) and line.split()[0] != "help"]


def split_sections(text):
    """The description above the usage, the usage, and the sections with their lines."""
    description, usage, found = [], "", [("", [])]
    for line in text.splitlines():
        if line.startswith("Usage: "):
            usage = line.removeprefix("Usage: ")
        elif not usage:
            description.append(line)
        elif heading := HEADING.match(line):
            found.append((heading[1], []))
        elif line and not line.startswith(" ") and found[-1][1] and not found[-1][1][-1].strip():
            found.append(("", [line]))
        else:
            found[-1][1].append(line)
    return " ".join(description).strip(), usage, found


def escape(text):
    """Text for Markdown: what looks like a tag or a formula is shown as it is."""
    return re.sub(r"([<>*$|{}\[\]])", r"\\\1", text)


def entries(lines):
    """Options with their descriptions, put together from the lines they were wrapped into."""
    found = []
    for line in lines:
        if (entry := ENTRY.match(line)) and (len(line) - len(line.lstrip()) <= 6):
            found.append([entry[1], entry[2] or ""])
        elif line.strip() and found:
            found[-1][1] += " " + line.strip()
    return found


def examples(lines):
    """Commands, one in a line: a line that doesn't begin a command belongs to the one before it."""
    found = []
    for line in lines:
        if line.startswith("  ermine"):
            found.append(line.strip())
        elif line.strip() and found:
            found[-1] += " " + line.strip()
    return found


def section(command):
    """The part of the page about a command."""
    description, usage, found = split_sections(help_of(command))
    lines = [f"## ermine {command}", "", escape(description) + ".", "", "```console", f"$ {usage}", "```", ""]
    for heading, content in found:
        if heading.startswith("Parameters of"):
            lines += ["**Parameters of the learner**", "", f"`ermine {command} --learner NAME --help` lists them; they are on the [pages of the learners](reference/README.md).", ""]
        elif heading == "Global options":
            continue
        elif heading == "Examples":
            lines += ["**Examples**", "", "```console", *(f"$ {line}" for line in examples(content)), "```", ""]
        elif options := entries(content):
            lines += [f"**{heading}**", ""]
            for name, text in options:
                lines += [f"`{name}`", f": {escape(text) or name}", ""]
        elif any(content):
            lines += [escape(" ".join(line.strip() for line in content if line.strip())), ""]
    return lines


def build(source):
    _, _, found = split_sections(help_of())
    whole = dict(found)
    lines = ["# Command line", "", "Generated from the help of the program, `ermine --help` and `ermine COMMAND --help`.", ""]
    lines += ["```text", help_of().rstrip(), "```", ""]
    if "Global options" in whole:
        lines += ["All commands take:", ""]
        for name, text in entries(whole["Global options"]):
            lines += [f"`{name}`", f": {escape(text)}", ""]
    for command in commands():
        lines += section(command)
    (source / "cli.md").write_text("\n".join(lines))


if __name__ == "__main__":
    target = ROOT / "target" / "site" / "source"
    target.mkdir(parents=True, exist_ok=True)
    build(target)
    print(target / "cli.md")

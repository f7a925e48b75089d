#!/usr/bin/env python3
"""Checks licenses, sources and double versions of all dependencies against deny.toml, for machines without cargo-deny. Advisories need cargo-deny.

    tools/dependencies.py
"""

import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def is_allowed(expression: str, allowed: set[str]) -> bool:
    """Whether an SPDX expression (AND, OR, WITH, brackets; the old slash for OR) can be met by allowed licenses."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))
    place = 0

    def term() -> bool:
        nonlocal place
        if tokens[place] == "(":
            place += 1
            value = either()
            place += 1
            return value
        name = tokens[place]
        place += 1
        if place + 1 < len(tokens) and tokens[place] == "WITH":
            name += f" WITH {tokens[place + 1]}"
            place += 2
        return name in allowed

    def both() -> bool:
        nonlocal place
        value = term()
        while place < len(tokens) and tokens[place] == "AND":
            place += 1
            value = term() and value
        return value

    def either() -> bool:
        nonlocal place
        value = both()
        while place < len(tokens) and tokens[place] == "OR":
            place += 1
            value = both() or value
        return value

    return either()


def main() -> int:
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    allowed = set(rules["licenses"]["allow"])
    exceptions = {rule["crate"]: set(rule["allow"]) for rule in rules["licenses"].get("exceptions", [])}
    command = ["cargo", "metadata", "--format-version", "1", "--all-features"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    wrong, versions = [], defaultdict(set)
    for package in metadata["packages"]:
        name = f"{package['name']} {package['version']}"
        versions[package["name"]].add(package["version"])
        license = package["license"]
        if license is None or not is_allowed(license, allowed | exceptions.get(package["name"], set())):
            wrong.append(f"{name}: the license {license} is not among those of deny.toml")
        source = package["source"]
        if source is not None and not source.startswith("registry+https://github.com/rust-lang/crates.io-index"):
            wrong.append(f"{name}: comes from {source}, not from crates.io")
    for name, several in sorted(versions.items()):
        if len(several) > 1:
            print(f"note: {name} is there in {len(several)} versions: {', '.join(sorted(several))}")
    print(f"{len(metadata['packages'])} packages, {len(wrong)} with an error")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

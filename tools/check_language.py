"""Checks spelling and style: American spelling, and the vocabulary of the field instead of words of our own.

    python tools/check_language.py              fails if a crate or folder has more findings than tools/language_exceptions.txt allows
    python tools/check_language.py --all        lists all findings, those that are allowed too
    python tools/check_language.py FILE ...     lists all findings in these files
    python tools/check_language.py --update     lowers the allowance of those that have improved; it never raises one

It also fails if two Rust types in the workspace have the same name, or if a type has a generic name such as `Rows` or `Step`.

Checked are the documentation, the README, the changelog, the examples, and source code (comments, messages and names). Add a word to WORDS when you see it a second time.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = ROOT / "tools" / "language_exceptions.txt"
FILES = [
    "*.md", "docs/**/*.md", "docs/**/*.py", "examples/**/*.md", "examples/**/*.py", "examples/**/*.sh", "crates/*/src/**/*.rs", "crates/ermine/examples/*.rs",
    "crates/ermine-python/python/**/*.py", "crates/ermine-python/python/**/*.pyi", "tools/*.md", "tools/site/*.py", "bench/*.md",
]

#: A pattern, and what to write instead. British spellings end in the American one.
WORDS = {
    # Spelling.
    r"(?:minim|maxim|optim|regular|normal|standard|general|initial|final|summar|visual|random|penal|serial|vector|discret|categor|recogn|organ|parallel|factor|symmetr|local|special|memor|quant|binar|equal|real|util|emphas|character|monoton|linear|token|stabil|central|synchron|custom|prior)is(?:e|ed|es|er|ers|ing|ation|ations)\b": "-ize, -ization",
    r"(?:neighbour|colour|behaviour|favour|honour|labour|flavour|rigour)\w*": "-or-",
    r"\b(?:centre|metre|fibre|calibre|theatre)\w*": "-er",
    r"(?:labell|modell|cancell(?!ation)|travell|signall|levell|fuell)(?:ed|ing|er)\w*": "a single l",
    r"\banalys(?:e|ed|es|ing)\b": "analyze",
    r"\b(?:grey|greys)\b": "gray",
    r"\bartefacts?\b": "artifact",
    r"\bjudgement\w*": "judgment",
    r"\bwhilst\b": "while",
    r"\bcatalogues?\b": "catalog",
    r"\blicence\b": "license",
    r"\bdefence\b": "defense",
    # Words of our own.
    r"\bsaid\b": "the verb that fits: printed, predicted, documented",
    r"\b(?:say|says|saying) (?:it|so|nothing|all|what|which|how|that|where|why|whether|in)\b": "state, print, report, show",
    r"\b(?:is|are|was|were|be|being|been|must be) told\b": "is given, is passed",
    r"\btells? (?:it|so|them)\b": "states, reports",
    r"\bask(?:s|ed|ing)? for\b": "request, give, pass",
    r"\b(?:go|goes|going|went|gone) on\b": "continue, resume",
    r"\bmanners?\b": "way, mode, conventions",
    r"\bsoil\b": "inputs",
    r"\bwords of\b": "terms, names",
    r"\b(?:kept|keep|keeps|put) aside\b": "held out",
    r"\bwatch(?:es|ed|ing)?\b": "monitor, validation",
    r"\bwhat it lacks\b": "1 - score",
    r"\bnot surely\b": "not significantly",
    r"\bof one's own\b": "custom",
    r"\bof the house\b": "built-in",
    r"\bits kin\b": "its variants",
    r"\blongest way\b": "depth",
    r"\bevery random choice\b": "random seed",
    r"\bdealt (?:to|into)\b": "assigned to",
    r"\banew\b": "again",
    r"\bhand(?:s|ed)? (?:itself|themselves) over\b": "provides",
    r"\bfollows? from this\b": "random seed",
    r"\bfar off\b": "uncertain",
    r"\bdoes best\b|\bdo best\b": "scores best",
    r"\bwhere there (?:is|are) none\b": "if there is none, without",
    r"\bthat is no (?:number|row|column|class|value)\b": "that is not a",
    r"\bcan't be told\b": "is not defined, is unknown",
    r"\bis asked (?:about|to be)\b": "is requested, is needed",
    r"\bwhoever\b": "the caller, the user, the process",
    r"\btold\b": "given, passed, defined",
    r"\bjudge[sd]?\b": "evaluate, score, check",
    r"\bbadness\b": "loss",
    r"\bfor people\b": "as text, readable",
    r"\bpunish(?:es|ed)?\b": "penalize",
    r"\bprices? (?:of|on)\b": "penalty, cost, value of C",
    r"\bfalse[- ]alarm rates?\b|\bhit rates?\b": "false positive rate, true positive rate",
    r"\blike guessing\b": "chance",
    r"\brows left out\b": "held-out rows, leave-one-out",
    # One wording per kind of problem.
    r"\bcan't handle\b|\bcannot handle\b": "does not support",
    r"\bis not allowed: expected\b": "must be ... (got ...)",
    r"\.word\(\)": "as_str()",
}
PATTERNS = [(re.compile(pattern), instead) for pattern, instead in WORDS.items()]
#: Names of other projects and of golden data, and this list.
IGNORED = re.compile(r"https?://\S+|sklearn\S*|\w+\.watch\(|tokio::sync::watch\S*")
#: What a program printed, on a page; it is checked where it comes from.
OUTPUT = re.compile(r"^```(?:text|console)\n.*?^```$", re.MULTILINE | re.DOTALL)


#: Names that say nothing about a type, and names that may repeat: the `Sealed` trait is an idiom, and each command of the CLI has its `Args`.
GENERIC_TYPES = {
    "Each", "Entry", "Facts", "Form", "Found", "Given", "Info", "Inner", "Item", "Kind", "Lines", "Manner", "Own", "Part", "Parts", "Place", "Places", "Rows", "Search", "Seen", "Several",
    "Soil", "State", "Step", "Sums", "Thing", "Way", "Words",
}
REPEATED_TYPES = {"Sealed", "Args"}
#: A type definition; associated types, which are indented, are not.
TYPE = re.compile(r"^(?:pub(?:\([^)]*\))? )?type (\w+)|^[ ]*(?:pub(?:\([^)]*\))? )?(?:struct|enum|union|trait) (\w+)", re.MULTILINE)


def files():
    found = {path for pattern in FILES for path in ROOT.glob(pattern) if path.is_file() and "target" not in path.relative_to(ROOT).parts}
    return sorted(found)


def findings(path):
    """Line, word and what to write instead, for each finding in a file."""
    text = IGNORED.sub("", path.read_text(encoding="utf-8").lower())
    if path.suffix == ".md":
        text = OUTPUT.sub(lambda block: "\n" * block[0].count("\n"), text)
    found = [(text.count("\n", 0, match.start()) + 1, match[0], instead) for pattern, instead in PATTERNS for match in pattern.finditer(text)]
    return sorted(found)


def type_findings():
    """Type names that are generic or occur more than once in the workspace."""
    places = {}
    for path in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        text = path.read_text(encoding="utf-8")
        for match in TYPE.finditer(text):
            line = text.count("\n", 0, match.start(match.lastindex)) + 1
            places.setdefault(match[match.lastindex], []).append(f"{path.relative_to(ROOT)}:{line}")
    generic = [f"{place}: type `{name}` has a generic name" for name in sorted(GENERIC_TYPES & places.keys()) for place in places[name]]
    repeated = [f"type `{name}` is defined {len(found)} times: {', '.join(found)}" for name, found in sorted(places.items()) if len(found) > 1 and name not in REPEATED_TYPES]
    return generic + repeated


def area(path):
    """A crate, or a folder of documentation: files may be renamed within one."""
    return "/".join(path.relative_to(ROOT).parts[:2])


def allowance():
    lines = ALLOWED.read_text().splitlines() if ALLOWED.exists() else []
    return {name: int(count) for count, name in (line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))}


def write_allowance(counts):
    head = "# Findings of tools/check_language.py that each crate or folder is still allowed. `--update` lowers the numbers.\n"
    ALLOWED.write_text(head + "".join(f"{count} {name}\n" for name, count in sorted(counts.items()) if count))


def show(path, found):
    for number, word, instead in found:
        print(f"{path.relative_to(ROOT)}:{number}: “{word}”; better: {instead}")


def main(arguments):
    named = [Path(name).resolve() for name in arguments if not name.startswith("--")]
    if named:
        counts = [show(path, found) or len(found) for path in named if (found := findings(path))]
        return 1 if counts else 0
    allowed, areas = allowance(), {}
    for path in files():
        areas.setdefault(area(path), []).append((path, findings(path)))
    counts = {name: sum(len(found) for _, found in listed) for name, listed in areas.items()}
    excess = [name for name, count in counts.items() if count > allowed.get(name, 0)]
    for name in areas if "--all" in arguments else excess:
        for path, found in areas[name]:
            show(path, found)
    for name in excess:
        print(f"{name} has {counts[name]} findings, and tools/language_exceptions.txt allows {allowed.get(name, 0)}")
    types = type_findings()
    print("\n".join(types), end="\n" if types else "")
    improved = [name for name in allowed if counts.get(name, 0) < allowed[name]]
    if "--update" in arguments:
        write_allowance({name: counts[name] if not allowed else min(counts[name], allowed.get(name, 0)) for name in counts})
    elif improved and not excess:
        print(f"fewer findings than allowed in {', '.join(improved)}: run `python tools/check_language.py --update`")
    return 1 if excess or types else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Lists the public API of the crate `ermine` in crates/ermine/public-api.txt, or checks the list.

    tools/public_api.py            write the list
    tools/public_api.py --check    fail if the list is not up to date

The list comes from the JSON output of rustdoc for the public crate and for the internal crates whose items it re-exports. Hidden items
are left out. Review the difference: a removed or changed line breaks programs of users.
"""

import difflib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "crates" / "ermine" / "public-api.txt"
CRATES = ["ermine", "ermine-core", "ermine-eval", "ermine-linear", "ermine-neighbors", "ermine-trees"]
ROOT_CRATE = "ermine"


def document():
    """Runs rustdoc. Only rustdoc sees the switch that allows JSON, so that nothing is rebuilt."""
    wrapper = ROOT / "tools" / "rustdoc_json"
    # The same selection of packages as elsewhere in the Makefile: another one would rebuild dependencies with other features.
    command = ["cargo", "doc", "--no-deps", "--lib", "--workspace", "--exclude", "ermine-python"]
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    subprocess.run([*command, "--quiet"], cwd=ROOT, check=True, env={**os.environ, "RUSTDOC": str(wrapper), "RUSTDOCFLAGS": "--cfg public_api"})
    return {name.replace("-", "_"): json.loads((target / "doc" / f"{name.replace('-', '_')}.json").read_text()) for name in CRATES}


class Api:
    def __init__(self, documents):
        self.documents = documents
        self.by_path = {}
        for crate, doc in documents.items():
            for ident, summary in doc["paths"].items():
                if summary["crate_id"] == 0 and ident in doc["index"]:
                    self.by_path.setdefault((tuple(summary["path"]), summary["kind"]), (crate, ident))
        self.lines = set()

    # Types as text -------------------------------------------------------------------------------------------------

    def type(self, t):
        if t is None:
            return "()"
        kind, v = next(iter(t.items())) if isinstance(t, dict) else (t, None)
        if kind in ("primitive", "generic"):
            return v
        if kind == "resolved_path":
            return v["path"].split("::")[-1] + self.args(v.get("args"))
        if kind == "borrowed_ref":
            life = f"{v['lifetime']} " if v.get("lifetime") else ""
            return f"&{life}{'mut ' if v['is_mutable'] else ''}{self.type(v['type'])}"
        if kind == "raw_pointer":
            return f"*{'mut' if v['is_mutable'] else 'const'} {self.type(v['type'])}"
        if kind == "slice":
            return f"[{self.type(v)}]"
        if kind == "array":
            return f"[{self.type(v['type'])}; {v['len']}]"
        if kind == "tuple":
            return "(" + ", ".join(map(self.type, v)) + ")"
        if kind == "impl_trait":
            return "impl " + self.bounds(v)
        if kind == "dyn_trait":
            names = [self.trait(t["trait"]) for t in v["traits"]] + ([v["lifetime"]] if v.get("lifetime") else [])
            return "dyn " + " + ".join(names)
        if kind == "qualified_path":
            return f"{self.type(v['self_type'])}::{v['name']}"
        if kind == "function_pointer":
            return "fn" + self.signature(v["sig"], names=False)
        return "_"

    def args(self, args):
        if not args:
            return ""
        kind, v = next(iter(args.items()))
        if kind == "parenthesized":
            out = f" -> {self.type(v['output'])}" if v["output"] else ""
            return "(" + ", ".join(map(self.type, v["inputs"])) + ")" + out
        if kind != "angle_bracketed":
            return ""
        words = []
        for arg in v["args"]:
            what, value = next(iter(arg.items())) if isinstance(arg, dict) else (arg, None)
            words.append(value if what == "lifetime" else self.type(value) if what == "type" else value["expr"] if value else "_")
        for constraint in v["constraints"]:
            binding = constraint["binding"]
            if "equality" in binding:
                words.append(f"{constraint['name']} = {self.type(binding['equality'].get('type'))}")
            else:
                words.append(f"{constraint['name']}: {self.bounds(binding['constraint'])}")
        return f"<{', '.join(words)}>" if words else ""

    def trait(self, trait):
        return trait["path"].split("::")[-1] + self.args(trait.get("args"))

    def bounds(self, bounds):
        words = []
        for bound in bounds:
            if "trait_bound" in bound:
                maybe = "?" if bound["trait_bound"]["modifier"] == "maybe" else ""
                words.append(maybe + self.trait(bound["trait_bound"]["trait"]))
            elif "outlives" in bound:
                words.append(bound["outlives"])
        return " + ".join(words)

    def generics(self, generics):
        params, where = [], []
        for param in generics["params"]:
            kind, v = next(iter(param["kind"].items()))
            if kind == "lifetime":
                params.append(param["name"])
            elif kind == "const":
                params.append(f"const {param['name']}: {self.type(v['type'])}")
            elif not v["is_synthetic"]:
                bounds = self.bounds(v["bounds"])
                params.append(param["name"] + (f": {bounds}" if bounds else ""))
        for predicate in generics["where_predicates"]:
            if "bound_predicate" in predicate:
                p = predicate["bound_predicate"]
                where.append(f"{self.type(p['type'])}: {self.bounds(p['bounds'])}")
        return (f"<{', '.join(params)}>" if params else ""), (f" where {', '.join(where)}" if where else "")

    def signature(self, sig, names=True):
        inputs = [self.type(t) if not names else self.input(name, t) for name, t in sig["inputs"]]
        out = f" -> {self.type(sig['output'])}" if sig["output"] else ""
        return "(" + ", ".join(inputs) + ")" + out

    def input(self, name, t):
        text = self.type(t)
        return {"Self": "self", "&Self": "&self", "&mut Self": "&mut self"}.get(text, f"self: {text}") if name == "self" else f"{name}: {text}"

    def function(self, name, f):
        params, where = self.generics(f["generics"])
        header = f["header"]
        words = "".join(word + " " for word, on in (("const", header["is_const"]), ("unsafe", header["is_unsafe"])) if on)
        return f"{words}fn {name}{params}{self.signature(f['sig'])}{where}"

    # Items ---------------------------------------------------------------------------------------------------------

    def hidden(self, item):
        return any("hidden" in str(attr) and "doc" in str(attr) for attr in item["attrs"])

    def children(self, crate, ids):
        index = self.documents[crate]["index"]
        found = (index.get(str(i)) for i in ids)
        return [item for item in found if item and not self.hidden(item)]

    def add(self, line):
        self.lines.add(line)

    def find(self, crate, ident):
        """An item of this crate, or of another crate of Ermine."""
        doc = self.documents[crate]
        if str(ident) in doc["index"]:
            return crate, doc["index"][str(ident)]
        summary = doc["paths"].get(str(ident))
        place = summary and self.by_path.get((tuple(summary["path"]), summary["kind"]))
        return (place[0], self.documents[place[0]]["index"][place[1]]) if place else (None, None)

    def item(self, crate, item, path):
        kind, v = next(iter(item["inner"].items()))
        if kind == "use":
            target_crate, target = self.find(crate, v["id"]) if v["id"] is not None else (None, None)
            if target is None:
                self.add(f"{path}::{v['name']} (re-export of {v['source']})")
            elif v["is_glob"]:
                for child in self.children(target_crate, target["inner"]["module"]["items"]):
                    self.item(target_crate, child, path)
            else:
                self.item(target_crate, {**target, "name": v["name"]}, path)
            return
        name = item["name"]
        here = f"{path}::{name}" if name else path
        if kind == "module":
            self.add(f"mod {here}")
            for child in self.children(crate, v["items"]):
                if child["visibility"] == "public":
                    self.item(crate, child, here)
        elif kind == "function":
            self.add(self.function(here, v))
        elif kind in ("struct", "enum", "union"):
            self.data(crate, kind, v, here)
        elif kind == "trait":
            params, where = self.generics(v["generics"])
            bounds = self.bounds(v["bounds"])
            self.add(f"trait {here}{params}{': ' + bounds if bounds else ''}{where}")
            for child in self.children(crate, v["items"]):
                what, inner = next(iter(child["inner"].items()))
                if what == "function":
                    self.add(self.function(f"{here}::{child['name']}", inner) + (" { .. }" if inner["has_body"] else ""))
                else:
                    self.add(f"{what} {here}::{child['name']}")
        elif kind == "type_alias":
            self.add(f"type {here}{self.generics(v['generics'])[0]} = {self.type(v['type'])}")
        elif kind == "constant":
            self.add(f"const {here}: {self.type(v['type'])}")
        else:
            self.add(f"{kind} {here}")

    def data(self, crate, kind, v, here):
        params, where = self.generics(v["generics"])
        self.add(f"{kind} {here}{params}{where}")
        if kind == "enum":
            for variant in self.children(crate, v["variants"]):
                self.variant(crate, variant, here)
        elif isinstance(v["kind"], dict) and "plain" in v["kind"]:
            for field in self.children(crate, v["kind"]["plain"]["fields"]):
                if field["visibility"] == "public":
                    self.add(f"field {here}.{field['name']}: {self.type(field['inner']['struct_field'])}")
        for block in self.children(crate, v["impls"]):
            inner = block["inner"]["impl"]
            if inner["trait"] is None:
                for child in self.children(crate, inner["items"]):
                    what, value = next(iter(child["inner"].items()))
                    if child["visibility"] != "public":
                        continue
                    if what == "function":
                        self.add(self.function(f"{here}::{child['name']}", value))
                    elif what == "assoc_const":
                        self.add(f"const {here}::{child['name']}: {self.type(value['type'])}")
            elif not inner["is_synthetic"] and inner["blanket_impl"] is None:
                params = self.generics(inner["generics"])[0]
                self.add(f"impl{params} {self.trait(inner['trait'])} for {here}")

    def variant(self, crate, variant, here):
        shape = variant["inner"]["variant"]["kind"]
        text = f"variant {here}::{variant['name']}"
        if isinstance(shape, dict) and "tuple" in shape:
            fields = [self.documents[crate]["index"].get(str(i)) for i in shape["tuple"] if i is not None]
            text += "(" + ", ".join(self.type(f["inner"]["struct_field"]) for f in fields if f) + ")"
        elif isinstance(shape, dict) and "struct" in shape:
            fields = self.children(crate, shape["struct"]["fields"])
            text += " { " + ", ".join(f"{f['name']}: {self.type(f['inner']['struct_field'])}" for f in fields) + " }"
        self.add(text)


def main():
    api = Api(document())
    root = api.documents[ROOT_CRATE]
    for child in api.children(ROOT_CRATE, root["index"][str(root["root"])]["inner"]["module"]["items"]):
        if child["visibility"] == "public":
            api.item(ROOT_CRATE, child, ROOT_CRATE)
    # Names of the prelude are only listed: what they are stands in their own modules.
    detail = lambda line: "ermine::prelude::" in line and not line.startswith(("struct ", "enum ", "trait ", "fn ", "type "))
    nested = lambda line: "ermine::prelude::" in line and line.split("ermine::prelude::")[1].split("(")[0].split("<")[0].count("::")
    lines = sorted((line for line in api.lines if not detail(line) and not nested(line)), key=lambda line: (line.split("ermine", 1)[-1], line))
    text = "\n".join(lines) + "\n"
    if "--check" not in sys.argv[1:]:
        LIST.write_text(text)
        print(f"{LIST.relative_to(ROOT)}: {len(lines)} lines")
        return
    old = LIST.read_text() if LIST.exists() else ""
    if old != text:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True), str(LIST.relative_to(ROOT)), "now", n=0))
        sys.exit("The public API of the crate `ermine` has changed. If that is intended, run tools/public_api.py and commit crates/ermine/public-api.txt.")


if __name__ == "__main__":
    main()

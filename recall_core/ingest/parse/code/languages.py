"""Programming languages: the language of a file, and the package that reads it. Imports no grammar."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import NamedTuple


class Grammar(NamedTuple):
    """Location of a grammar: package to install, its module, and the function to call."""

    package: str
    module: str
    function: str


def _grammar(name: str, function: str = "language") -> Grammar:
    return Grammar(f"tree-sitter-{name}", f"tree_sitter_{name.replace('-', '_')}", function)


GRAMMARS: Mapping[str, Grammar] = {
    "bash": _grammar("bash"),
    "c": _grammar("c"),
    "cpp": _grammar("cpp"),
    "csharp": _grammar("c-sharp"),
    "css": _grammar("css"),
    "elixir": _grammar("elixir"),
    "go": _grammar("go"),
    "groovy": _grammar("groovy"),
    "haskell": _grammar("haskell"),
    "hcl": _grammar("hcl"),
    "java": _grammar("java"),
    "javascript": _grammar("javascript"),
    "julia": _grammar("julia"),
    "kotlin": _grammar("kotlin"),
    "lua": _grammar("lua"),
    "objc": _grammar("objc"),
    "ocaml": _grammar("ocaml", "language_ocaml"),
    "ocaml interface": _grammar("ocaml", "language_ocaml_interface"),
    "perl": _grammar("perl"),
    "php": _grammar("php", "language_php"),
    "powershell": _grammar("powershell"),
    "python": _grammar("python"),
    "ruby": _grammar("ruby"),
    "rust": _grammar("rust"),
    "scala": _grammar("scala"),
    "sql": _grammar("sql"),
    "swift": _grammar("swift"),
    "tsx": _grammar("typescript", "language_tsx"),
    "typescript": _grammar("typescript", "language_typescript"),
    "zig": _grammar("zig"),
}
"""Grammar by language. Other languages are outlined by line patterns."""

_SUFFIXES = {
    "bash": "sh bash zsh ksh bats ebuild",
    "c": "c h",
    "clojure": "clj cljs cljc edn",
    "cmake": "cmake",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp inl tcc cu cuh ino",
    "csharp": "cs csx",
    "css": "css",
    "d": "d",
    "dart": "dart",
    "elixir": "ex exs",
    "elm": "elm",
    "erlang": "erl hrl",
    "fortran": "f f90 f95 f03 f08 for",
    "fsharp": "fs fsi fsx",
    "go": "go",
    "graphql": "graphql gql",
    "groovy": "groovy gradle",
    "haskell": "hs",
    "hcl": "tf tfvars hcl",
    "java": "java",
    "javascript": "js mjs cjs jsx es6",
    "julia": "jl",
    "kotlin": "kt kts",
    "lisp": "lisp lsp cl el",
    "lua": "lua",
    "nim": "nim",
    "nix": "nix",
    "objc": "m mm",
    "ocaml": "ml",
    "ocaml interface": "mli",
    "pascal": "pas pp dpr",
    "perl": "pl pm t",
    "php": "php php3 php4 php5 phtml",
    "powershell": "ps1 psm1",
    "protobuf": "proto",
    "python": "py pyi pyw pyx pxd bzl star",
    "r": "r",
    "ruby": "rb rake gemspec ru rbi",
    "rust": "rs",
    "scala": "scala sc sbt",
    "scheme": "scm ss rkt",
    "solidity": "sol",
    "sql": "sql ddl pgsql",
    "swift": "swift",
    "tcl": "tcl",
    "tsx": "tsx",
    "typescript": "ts mts cts",
    "vb": "vb bas",
    "verilog": "v sv svh",
    "vhdl": "vhd vhdl",
    "zig": "zig",
}
_BY_SUFFIX = {suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}

_NAMES = {
    "bash": ".bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc .zprofile .zshenv pkgbuild apkbuild",
    "cmake": "cmakelists.txt",
    "groovy": "jenkinsfile",
    "python": "sconstruct sconscript wscript tiltfile build.bazel workspace.bazel module.bazel",
    "ruby": "rakefile gemfile vagrantfile podfile fastfile brewfile guardfile capfile",
}
_BY_NAME = {name: language for language, names in _NAMES.items() for name in names.split()}

_INTERPRETERS = {
    "ash": "bash",
    "bash": "bash",
    "bats": "bash",
    "bun": "typescript",
    "dash": "bash",
    "deno": "typescript",
    "elixir": "elixir",
    "groovy": "groovy",
    "julia": "julia",
    "ksh": "bash",
    "lua": "lua",
    "luajit": "lua",
    "node": "javascript",
    "nodejs": "javascript",
    "ocaml": "ocaml",
    "perl": "perl",
    "php": "php",
    "pwsh": "powershell",
    "pypy": "python",
    "python": "python",
    "rscript": "r",
    "ruby": "ruby",
    "runghc": "haskell",
    "runhaskell": "haskell",
    "scala": "scala",
    "sh": "bash",
    "swift": "swift",
    "tclsh": "tcl",
    "ts-node": "typescript",
    "tsx": "typescript",
    "zsh": "bash",
}
_SHEBANG = re.compile(r"#![ \t]*(?P<program>\S+)(?P<rest>[^\n]{0,200})")

_SHOWN = {"cpp": "C++", "csharp": "C#", "css": "CSS", "hcl": "HCL", "javascript": "JavaScript", "objc": "Objective-C"}
_SHOWN |= {"ocaml": "OCaml", "ocaml interface": "OCaml", "php": "PHP", "powershell": "PowerShell", "sql": "SQL"}
_SHOWN |= {"tsx": "TypeScript", "typescript": "TypeScript"}


def language_of(path: str, first_line: str = "") -> str | None:
    """Return the language of a file by its name, else by its `#!` line, or None."""
    name = path.rpartition("/")[2].lower()
    known = _BY_NAME.get(name)
    if known is None and "." in name.lstrip("."):
        known = _BY_SUFFIX.get(name.rpartition(".")[2])
    if known == "typescript" and first_line.lstrip().startswith("<"):
        return None  # a Qt translation
    return known or _read_shebang(first_line)


def _read_shebang(first_line: str) -> str | None:
    found = _SHEBANG.match(first_line)
    if found is None:
        return None
    words = [found["program"], *found["rest"].split()]
    if words[0].rpartition("/")[2] == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    program = words[0].rpartition("/")[2].lower() if words else ""
    return _INTERPRETERS.get(program) or _INTERPRETERS.get(program.rstrip("0123456789.-"))


def missing(language: str) -> str | None:
    """Return the package needed to read this language if it is not installed, else None."""
    grammar = GRAMMARS.get(language)
    if grammar is None:
        return None
    if find_spec("tree_sitter") is None:
        return "tree-sitter"
    return grammar.package if find_spec(grammar.module) is None else None


def display_name(language: str) -> str:
    """Return the display name of a language, such as `C++` for "cpp"."""
    return _SHOWN.get(language, language.capitalize())

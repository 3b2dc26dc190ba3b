"""Definitions in a syntax tree, captured by a query per language.

A capture names the kind of a definition. `@word` is its keyword. `@name` is its name, from the first capture to the
last; without one, the first line is the name. `@above` belongs to a definition directly below it, `@bound` to the
next definition in any case. If several patterns match one definition, the first counts.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from recall_core.ingest.parse.code.languages import GRAMMARS
from recall_core.ingest.parse.code.units import Above, Definition, clip_name

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query


_CALLED = frozenset(("function", "method"))  # shown with () if there is no keyword
_HEADER = re.compile(rb"[^\n{;]{0,400}")
_LONGEST_NAME_BYTES = 500


class NoGrammar(Exception):
    """The grammar of a language is not installed or not usable."""


def definitions_of(source: bytes, language: str) -> tuple[list[Definition], list[Above]]:
    """Return the definitions of a UTF-8 source, outer ones first, and the comments above them; both in order.

    For a malformed source, returns what was recognized. Raises NoGrammar.
    """
    parser, query = _tools(language)
    from tree_sitter import QueryCursor  # noqa: PLC0415 - _tools has checked that it is installed

    matches = QueryCursor(query).matches(parser.parse(source).root_node)
    found: dict[tuple[int, int], tuple[int, Definition]] = {}
    above: list[Above] = []
    for pattern, captures in matches:
        for kind, nodes in captures.items():
            if kind in ("above", "bound"):
                for node in nodes:
                    end = _end_of_code(source, node.start_byte, node.end_byte)
                    above.append(Above(node.start_byte, end, kind == "bound"))
            elif kind not in ("word", "name"):
                place = nodes[0].start_byte, nodes[0].end_byte
                if place not in found or pattern < found[place][0]:
                    found[place] = pattern, _definition(source, kind, nodes[0], captures)
    comments = {each.end: each.start for each in above if not each.is_bound}
    definitions = [_without_comments(source, definition, comments) for _, definition in found.values()]
    definitions.sort(key=lambda each: (each.start, -each.end))
    if language in REPEATED:
        definitions = list(_join(definitions))
    outer: list[Above] = []
    for each in sorted(above, key=lambda one: (one.start, -one.end)):
        if not outer or each.start >= outer[-1].end:
            outer.append(each)
    return definitions, outer


@cache
def _tools(language: str) -> tuple[Parser, Query]:
    """Return the parser and the query of a language."""
    grammar = GRAMMARS.get(language)
    if grammar is None:
        raise NoGrammar(language)
    try:
        from tree_sitter import Language, Parser, Query  # noqa: PLC0415 - needed only for source code

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # some grammars return an integer pointer
            loaded = Language(getattr(import_module(grammar.module), grammar.function)())
        return Parser(loaded), Query(loaded, QUERIES[language])
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise NoGrammar(language) from error


def _definition(source: bytes, kind: str, node: Node, captures: dict[str, list[Node]]) -> Definition:
    start, end = node.start_byte, _end_of_code(source, node.start_byte, node.end_byte)
    names, words = captures.get("name"), captures.get("word", ())
    if not names:
        header = _HEADER.match(source, start, end)
        return Definition(start, end, kind, clip_name(header[0].decode(errors="ignore") if header else ""))
    first, last = min(name.start_byte for name in names), max(name.end_byte for name in names)
    name = source[first : min(last, first + _LONGEST_NAME_BYTES)].decode(errors="ignore")
    keyword = " ".join(source[word.start_byte : word.end_byte].decode() for word in words)
    after = "()" if kind in _CALLED and not words else ""
    return Definition(start, end, kind, clip_name(f"{keyword} {name}{after}"))


def _without_comments(source: bytes, definition: Definition, comments: dict[int, int]) -> Definition:
    """Return the definition without trailing comments, which Python's grammar includes.

    comments: start of each comment, by its end.
    """
    end = definition.end
    while (start := comments.get(end, 0)) > definition.start:
        end = _end_of_code(source, definition.start, start)
    return definition._replace(end=end)


def _end_of_code(source: bytes, start: int, end: int) -> int:
    """Return the end of a range without trailing white space, which some grammars include in a node."""
    while end > start and source[end - 1] in b" \t\r\n":
        end -= 1
    return end


def _join(definitions: list[Definition]) -> Iterable[Definition]:
    """Yield the definitions, with consecutive ones of the same function joined."""
    last: Definition | None = None
    for each in definitions:
        if last and (each.kind, each.name) == (last.kind, last.name) and each.start >= last.end:
            last = last._replace(end=each.end)
            continue
        if last:
            yield last
        last = each
    if last:
        yield last


def _keywords(rows: str, comments: str = "comment") -> str:
    """Return patterns for definitions of one shape. A row: node type, keyword, kind; field `name` is the name."""
    patterns = [f"({comment}) @above" for comment in comments.split()]
    for node, keyword, kind in (row.split() for row in rows.strip().splitlines()):
        patterns.append(f'({node} "{keyword}" @word name: (_) @name) @{kind}')
    return "\n".join(patterns)


_PYTHON = _keywords("class_definition class class\nfunction_definition def function") + "\n(decorator) @bound"

_ECMASCRIPT = (
    _keywords(
        """
    function_declaration            function    function
    generator_function_declaration  function    function
    class_declaration               class       class
    """
    )
    + """
(method_definition name: (_) @name) @method
(variable_declarator name: (identifier) @name
    value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class "class" @word)) @class
(assignment_expression left: [(identifier) (member_expression)] @name
    right: [(arrow_function) (function_expression) (generator_function)]) @function
(assignment_expression left: [(identifier) (member_expression)] @name right: (class "class" @word)) @class
(pair key: (_) @name value: [(function_expression) (generator_function)]) @function
(export_statement "export" @word "default" @word value: [(arrow_function) (function_expression)]) @function
(export_statement "export" @word "default" @word value: (class)) @class
(decorator) @bound
"""
)

_JAVASCRIPT = (
    _ECMASCRIPT
    + """
(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @method
"""
)

_TYPESCRIPT = (
    _ECMASCRIPT
    + _keywords(
        """
    abstract_class_declaration  class       class
    interface_declaration       interface   interface
    enum_declaration            enum        enum
    type_alias_declaration      type        type
    internal_module             namespace   module
    module                      module      module
    function_signature          function    function
    """,
        "",
    )
    + """
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @method
(abstract_method_signature name: (_) @name) @method
"""
)

_C = """
(comment) @above
(function_definition declarator: (function_declarator declarator: (_) @name)) @function
(function_definition declarator: (_ (function_declarator declarator: (_) @name))) @function
(function_definition declarator: (_ (_ (function_declarator declarator: (_) @name)))) @function
(struct_specifier "struct" @word name: (_) @name body: (_)) @struct
(union_specifier "union" @word name: (_) @name body: (_)) @struct
(enum_specifier "enum" @word name: (_) @name body: (_)) @enum
(type_definition "typedef" @word type: [
    (struct_specifier body: (_)) (union_specifier body: (_)) (enum_specifier body: (_))
] declarator: (_) @name) @type
(preproc_function_def "#define" @word name: (_) @name) @macro
"""

# A class with a macro before its name (`class API Name {`) is parsed as a function that returns a class.
_CPP = (
    """
(function_definition type: (class_specifier "class" @word !body) declarator: (identifier) @name) @class
(function_definition type: (struct_specifier "struct" @word !body) declarator: (identifier) @name) @struct
"""
    + _C
    + """
(function_definition) @function
(class_specifier "class" @word name: (_) @name body: (_)) @class
(namespace_definition "namespace" @word name: (_) @name) @module
(alias_declaration "using" @word name: (_) @name) @type
(concept_definition "concept" @word name: (_) @name) @type
(template_declaration parameters: (_) @bound)
"""
)

_OBJECTIVE_C = (
    _C
    + """
(function_definition) @function
(class_interface "@interface" @word . (identifier) @name) @class
(class_implementation "@implementation" @word . (identifier) @name) @impl
(protocol_declaration "@protocol" @word . (identifier) @name) @interface
(method_definition) @method
"""
)

_JAVA = (
    _keywords(
        """
    class_declaration           class       class
    interface_declaration       interface   interface
    enum_declaration            enum        enum
    record_declaration          record      class
    annotation_type_declaration @interface  interface
    """,
        "line_comment block_comment",
    )
    + """
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @method
(compact_constructor_declaration name: (_) @name) @method
"""
)

_GROOVY = (
    _keywords(
        """
    class_declaration       class       class
    interface_declaration   interface   interface
    enum_declaration        enum        enum
    """,
        "line_comment block_comment",
    )
    + """
(method_declaration name: (_) @name) @method
(function_definition name: (_) @name) @function
"""
)

_CSHARP = (
    _keywords(
        """
    class_declaration       class       class
    interface_declaration   interface   interface
    struct_declaration      struct      struct
    enum_declaration        enum        enum
    record_declaration      record      class
    namespace_declaration   namespace   module
    delegate_declaration    delegate    type
    """
    )
    + """
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @method
(destructor_declaration "~" @name name: (_) @name) @method
(operator_declaration "operator" @word operator: _ @name) @method
(local_function_statement name: (_) @name) @function
"""
)

_GO = """
(comment) @above
(function_declaration "func" @word name: (_) @name) @function
(method_declaration "func" @word receiver: (_) @name name: (_) @name) @method
(type_declaration "type" @word (type_spec name: (_) @name type: (struct_type)) @struct)
(type_declaration "type" @word (type_spec name: (_) @name type: (interface_type)) @interface)
(type_declaration "type" @word [(type_spec name: (_) @name) (type_alias name: (_) @name)] @type)
"""

_RUST = (
    _keywords(
        """
    function_item           fn              function
    function_signature_item fn              function
    struct_item             struct          struct
    union_item              union           struct
    enum_item               enum            enum
    trait_item              trait           trait
    type_item               type            type
    macro_definition        macro_rules!    macro
    """,
        "line_comment block_comment",
    )
    + """
(mod_item "mod" @word name: (_) @name body: (_)) @module
(impl_item "impl" @word trait: (_) @name type: (_) @name) @impl
(impl_item "impl" @word !trait type: (_) @name) @impl
(attribute_item) @bound
"""
)

_RUBY = (
    _keywords(
        """
    module  module  module
    class   class   class
    method  def     function
    """
    )
    + """
(singleton_method "def" @word object: (_) @name name: (_) @name) @function
"""
)

_PHP = (
    _keywords(
        """
    class_declaration       class       class
    interface_declaration   interface   interface
    trait_declaration       trait       trait
    enum_declaration        enum        enum
    function_definition     function    function
    method_declaration      function    method
    """
    )
    + """
(namespace_definition "namespace" @word name: (_) @name body: (_)) @module
"""
)

_PERL = (
    _keywords(
        """
    subroutine_declaration_statement    sub     function
    method_declaration_statement        method  method
    """
    )
    + """
(package_statement "package" @word name: (_) @name (block)) @module
(class_statement "class" @word name: (_) @name (block)) @class
(pod) @bound
"""
)

_BASH = """
(comment) @above
(function_definition "function"? @word name: (_) @name) @function
"""

_POWERSHELL = """
(comment) @above
(function_statement "function" @word (function_name) @name) @function
(function_statement "filter" @word (function_name) @name) @function
(class_statement) @class
(enum_statement) @enum
(class_method_definition (simple_name) @name) @method
"""

_LUA = """
(comment) @above
(function_declaration "function" @word name: (_) @name) @function
(assignment_statement (variable_list . name: (_) @name) (expression_list . value: (function_definition))) @function
(field name: (_) @name value: (function_definition)) @function
"""

_SCALA = (
    _keywords(
        """
    class_definition        class       class
    object_definition       object      object
    trait_definition        trait       trait
    enum_definition         enum        enum
    function_definition     def         function
    function_declaration    def         function
    type_definition         type        type
    """,
        "comment block_comment",
    )
    + """
(package_clause "package" @word name: (_) @name body: (_)) @module
(annotation) @bound
"""
)

_HASKELL = """
[(comment) (haddock) (signature)] @above
(function name: (_) @name) @function
(declarations (bind name: (_) @name) @function)
(data_type "data" @word name: (_) @name) @type
(newtype "newtype" @word name: (_) @name) @type
(type_synonym "type" @word name: (_) @name) @type
(class "class" @word name: (_) @name) @trait
(instance "instance" @word name: (_) @name patterns: (_)? @name) @impl
"""

_OCAML = """
(comment) @above
(value_definition "let" @word (let_binding pattern: (value_name) @name (parameter))) @function
(value_definition "let" @word (let_binding pattern: (value_name) @name
    body: [(fun_expression) (function_expression)])) @function
(value_specification "val" @word (value_name) @name) @function
(external "external" @word (value_name) @name) @function
(type_definition "type" @word (type_binding name: (_) @name)) @type
(module_definition "module" @word (module_binding (module_name) @name)) @module
(module_type_definition "module" @word "type" @word (module_type_name) @name) @interface
(class_definition "class" @word (class_binding (class_name) @name)) @class
(method_definition "method" @word (method_name) @name) @method
"""

_JULIA = """
[(line_comment) (block_comment)] @above
(source_file (string_literal) @above)
(module_definition (string_literal) @above)
(module_definition "module" @word name: (_) @name) @module
(function_definition "function" @word (signature (call_expression . (_) @name))) @function
(function_definition "function" @word (signature (_ . (call_expression . (_) @name)))) @function
(function_definition "function" @word (signature (_ . (_ . (call_expression . (_) @name))))) @function
(function_definition) @function
(macro_definition "macro" @word (signature (call_expression . (_) @name))) @macro
(struct_definition "struct" @word (type_head) @name) @struct
(abstract_definition "abstract" @word "type" @word (type_head) @name) @type
(assignment . (call_expression . (_) @name)) @function
(assignment . [(where_expression . (call_expression . (_) @name))
    (typed_expression . (call_expression . (_) @name))]) @function
"""

_ELIXIR = """
(comment) @above
(unary_operator operator: "@") @above
((call target: (identifier) @word (arguments . (_) @name)) @module
    (#any-of? @word "defmodule" "defprotocol" "defimpl"))
((call target: (identifier) @word (arguments . [
        (identifier) @name
        (call target: (_) @name)
        (binary_operator left: (identifier) @name)
        (binary_operator left: (call target: (_) @name))
    ])) @function
    (#any-of? @word "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate"))
"""

_KOTLIN = """
[(line_comment) (block_comment)] @above
(class_declaration "class" @word name: (_) @name) @class
(class_declaration "interface" @word name: (_) @name) @interface
(object_declaration "object" @word name: (_) @name) @object
(function_declaration "fun" @word name: (_) @name) @function
(type_alias "typealias" @word type: (_) @name) @type
"""

_SWIFT = """
[(comment) (multiline_comment)] @above
(class_declaration declaration_kind: "class" @word name: (_) @name) @class
(class_declaration declaration_kind: "actor" @word name: (_) @name) @class
(class_declaration declaration_kind: "struct" @word name: (_) @name) @struct
(class_declaration declaration_kind: "enum" @word name: (_) @name) @enum
(class_declaration declaration_kind: "extension" @word name: (_) @name) @impl
(protocol_declaration "protocol" @word name: (_) @name) @interface
(function_declaration "func" @word . (_) @name) @function
(protocol_function_declaration "func" @word name: (_) @name) @method
(init_declaration "init" @name) @method
(typealias_declaration "typealias" @word . name: (_) @name) @type
"""

_ZIG = """
(comment) @above
(function_declaration "fn" @word name: (_) @name) @function
(test_declaration "test" @word [(string) (identifier)] @name) @function
(variable_declaration . (identifier) @name (struct_declaration "struct" @word)) @struct
(variable_declaration . (identifier) @name (union_declaration "union" @word)) @struct
(variable_declaration . (identifier) @name (enum_declaration "enum" @word)) @enum
"""

_SQL = """
[(comment) (marginalia)] @above
(create_table (keyword_create) @word (keyword_table) @word (object_reference) @name) @table
(create_view (keyword_create) @word (keyword_view) @word . (object_reference) @name) @view
(create_materialized_view (keyword_create) @word (keyword_view) @word . (object_reference) @name) @view
(create_function (keyword_create) @word (keyword_function) @word . (object_reference) @name) @function
(create_procedure (keyword_create) @word (keyword_procedure) @word . (object_reference) @name) @function
(create_trigger (keyword_create) @word (keyword_trigger) @word . (object_reference) @name) @function
(create_type (keyword_create) @word (keyword_type) @word . (object_reference) @name) @type
"""

_HCL = """
(comment) @above
(config_file (body (block . (identifier) @word (string_lit)* @name) @definition))
"""

_CSS = """
(comment) @above
(rule_set (selectors) @name) @rule
"""

QUERIES: Mapping[str, str] = {
    "bash": _BASH,
    "c": _C + "(function_definition) @function",
    "cpp": _CPP,
    "csharp": _CSHARP,
    "css": _CSS,
    "elixir": _ELIXIR,
    "go": _GO,
    "groovy": _GROOVY,
    "haskell": _HASKELL,
    "hcl": _HCL,
    "java": _JAVA,
    "javascript": _JAVASCRIPT,
    "julia": _JULIA,
    "kotlin": _KOTLIN,
    "lua": _LUA,
    "objc": _OBJECTIVE_C,
    "ocaml": _OCAML,
    "ocaml interface": _OCAML,
    "perl": _PERL,
    "php": _PHP,
    "powershell": _POWERSHELL,
    "python": _PYTHON,
    "ruby": _RUBY,
    "rust": _RUST,
    "scala": _SCALA,
    "sql": _SQL,
    "swift": _SWIFT,
    "tsx": _TYPESCRIPT,
    "typescript": _TYPESCRIPT,
    "zig": _ZIG,
}

REPEATED = frozenset(("haskell",))
"""Languages in which a function is defined by several equations, one below the other."""

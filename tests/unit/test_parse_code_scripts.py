"""Definitions found in scripts, as line, level, kind and name."""

from tests.definitions import check_samples


def test_definitions_of_the_samples() -> None:
    check_samples(SAMPLES)


SAMPLES = [
    (
        "a.py",
        r'''"""Doc."""
import x

LIMIT = 3


# why
@wrap(
    1
)
async def one(a,
              b):
    def inner():
        pass
    return inner


class A(B):
    """Doc."""

    n = 1

    def close(self): ...

    x = 2

    class Inner:
        def f(self): pass


print(1)
''',
        """
7 1 function def one
18 1 class class A
23 2 method def close
25 2 statements
27 2 class class Inner
28 3 method def f
31 1 statements
""",
    ),
    (
        "a.pyi",
        r"""from x import y
if TYPE_CHECKING:
    class A:
        @overload
        def f(self) -> int: ...
        @overload
        def f(self, a: int) -> str: ...
else:
    def g() -> None: ...
""",
        """
3 1 class class A
4 2 method def f
6 2 method def f
8 1 statements
9 1 function def g
""",
    ),
    (
        "a.py",
        r"""try:
    import x
except ImportError:
    def x(): return 1

for i in y:
    class Loop:
        pass
match z:
    case 1:
        def matched(): pass
""",
        """
4 1 function def x
6 1 statements
7 1 class class Loop
9 1 statements
11 1 function def matched
""",
    ),
    (
        "a.py",
        r'''def one(): pass
def two(): pass
x = 1; y = 2
def three(): return """
def not_this():
"""
''',
        """
1 1 function def one
2 1 function def two
3 1 statements
4 1 function def three
""",
    ),
    (
        "a.py",
        r"""# a comment of the file

# a comment of the function
def naïve(é): return "日本"

# a section

class Ünï:
    @property

    def größe(self): return 1
""",
        """
3 1 function def naïve
6 1 statements
8 1 class class Ünï
9 2 method def größe
""",
    ),
    (
        "a.py",
        r"""class Broken(
def good():
    return 1

class Fine:
    def m(self):
        return (1

def after():
    pass
""",
        """
2 1 function def good
5 1 class class Fine
6 2 method def m
10 2 statements
""",
    ),
    (
        "a.rb",
        r"""require 'x'

# A module.
module Shapes
  class Box < Base
    attr_reader :n

    # Builds.
    def initialize(n)
      @n = n
    end

    def self.build(*args) = new(*args)

    class << self
      def q; end
    end

    private def hidden?
    end
  end
end

class Shapes::Ball; end
puts 1
""",
        """
3 1 module module Shapes
5 2 class class Box
8 3 method def initialize
13 3 method def self.build
15 3 statements
16 3 method def q
19 3 method def hidden?
24 1 class class Shapes::Ball
25 1 statements
""",
    ),
    (
        "b.rb",
        r"""if x
  def a; end
else
  def b; end
end
Foo = Struct.new(:a) do
  def c; end
end
def d = 1
""",
        """
2 1 function def a
3 1 statements
4 1 function def b
6 1 statements
7 1 function def c
9 1 function def d
""",
    ),
    (
        "a.php",
        r"""<html>
<?php
namespace A\B;

/** A box. */
#[Entity]
final class Box extends Base {
    const X = 1;

    public function count(): int { $f = function () {}; return 1; }
}
?>
</html>
""",
        """
5 1 class class Box
10 2 method function count
13 1 statements
""",
    ),
    (
        "b.php",
        r"""<?php
interface Shape { function area(); }
trait Sized { }
enum Suit: string { case H = 'h'; }

function top($a) { return $a; }
namespace X { class Y {} }
echo 1;
""",
        """
2 1 interface interface Shape
2 2 method function area
3 1 trait trait Sized
4 1 enum enum Suit
6 1 function function top
7 1 module namespace X
7 2 class class Y
8 1 statements
""",
    ),
    (
        "a.sh",
        r"""#!/bin/sh
set -e

# Says hi.
hi() {
  echo hi
}

function bye {
  echo bye
}
hi
""",
        """
4 1 function hi()
9 1 function function bye
12 1 statements
""",
    ),
    (
        "configure",
        r"""#!/usr/bin/env bash
if true; then
  maybe() { :; }
fi
both() (
  cat <<EOF
fake() {
EOF
)
""",
        """
3 1 function maybe()
5 1 function both()
""",
    ),
    (
        "a.lua",
        r"""local M = {}
-- adds
local function add(a, b)
  return a + b
end
function M.sub(a) return a end
function M:go() end
M.late = function() end
local f = function() end
return M
""",
        """
2 1 function function add
6 1 function function M.sub
7 1 function function M:go
8 1 function M.late()
9 1 function f()
10 1 statements
""",
    ),
    (
        "a.pl",
        r"""package A::B;
use strict;

=pod

Adds.

=cut

sub add { 1 }
my $x = 1;
package C { sub in_c {} }
""",
        """
4 1 function sub add
11 1 statements
12 1 module package C
12 2 function sub in_c
""",
    ),
    (
        "a.jl",
        r"""module M
using X
"Adds."
function add(a::Int)::Int
    a
end
bar(x) = 2
Base.show(io::IO) = 3
struct A{T} <: B
    x
end
macro m(x) end
function Base.q(x) where T end
@inline function z(x) end
w(x::T) where T = 1
end
""",
        """
1 1 module module M
3 2 function function add
7 2 function bar()
8 2 function Base.show()
9 2 struct struct A{T} <: B
12 2 macro macro m
13 2 function function Base.q
14 2 function function z
15 2 function w()
""",
    ),
    (
        "a.ex",
        r"""defmodule A.B do
  use X

  @doc "Adds."
  @spec add(a) :: b
  def add(a) when a > 1, do: 1

  defp bar(x) do
    x
  end
  def q do
    1
  end
end
defprotocol P do
end
""",
        """
1 1 module defmodule A.B
4 2 function def add
8 2 function defp bar
11 2 function def q
15 1 module defprotocol P
""",
    ),
    (
        "a.ps1",
        r"""# gets
function Get-Foo {
  param($x)
}
class A : B {
  [int] Foo() { return 1 }
}
enum E { A }
""",
        """
1 1 function function Get-Foo
5 1 class class A : B
6 2 method Foo()
8 1 enum enum E
""",
    ),
]

"""Definitions found in compiled languages, as line, level, kind and name."""

from tests.definitions import check_samples


def test_definitions_of_the_samples() -> None:
    check_samples(SAMPLES)


SAMPLES = [
    (
        "a.c",
        r"""/* licence */

#include <stdio.h>

struct point { int x, y; };
typedef enum { RED } color;
union u { int a; };

/* Adds. */
static int
add(int a, int b)
{
	return a + b;
}
""",
        """
5 1 struct struct point
6 1 type typedef color
7 1 struct union u
9 1 function add()
""",
    ),
    (
        "a.c",
        r"""char **names(void) { return 0; }
#define MAX(a, b) \
	((a) > (b) ? (a) : (b))
int table[] = { 1 };
int old(a) int a; { return a; }
int declared(int);
typedef int number;
""",
        """
1 1 function names()
2 1 macro #define MAX
4 1 statements
5 1 function old()
6 1 statements
""",
    ),
    (
        "a.h",
        r"""#ifndef A_H
#define A_H

/* A node. */
typedef struct node {
	struct node *next;
	struct { int a; } inner;
} node_t;

#ifdef X
int one(void) { return 1; }
#else
int two(void) { return 2; }
#endif

#endif /* A_H */
""",
        """
4 1 type typedef node_t
10 1 statements
11 1 function one()
13 1 function two()
""",
    ),
    (
        "a.h",
        r"""#pragma once
namespace a::b {

/// A box.
template <typename T>
class Box final : public Base {
 public:
  Box() : n(0) {}
  ~Box() = default;
  explicit operator bool() const { return n; }
  T& at(int i) { return v[i]; }
  struct Inner { int a; };
  int n;
};

}  // namespace a::b
""",
        """
2 1 module namespace a::b
4 2 class class Box
8 3 method Box()
9 3 method ~Box()
10 3 method explicit operator bool() const
11 3 method at()
12 3 struct struct Inner
13 3 statements
""",
    ),
    (
        "a.cpp",
        r"""namespace {
int hidden() { return 1; }
}

template <class T>
T *Box<T>::find(int a) { return nullptr; }

enum class E { A };
using X = int;
extern "C" {
void c_api(void) {}
}
""",
        """
2 1 function hidden()
5 1 function Box<T>::find()
8 1 enum enum E
9 1 type using X
10 1 statements
11 1 function c_api()
""",
    ),
    (
        "a.cc",
        r"""class API_EXPORT Widget : public Base {
 public:
  void show() { }
};
template <typename T> concept Small = sizeof(T) < 2;
auto lambda = [](int a) { return a; };
bool operator==(const A& a, const A& b) { return true; }
""",
        """
1 1 class class Widget
5 1 type concept Small
6 1 statements
7 1 function operator==()
""",
    ),
    (
        "A.java",
        r"""package a.b;

import java.util.List;

/**
 * A box.
 */
@Deprecated
public final class Box<T> extends Base implements Shape {
    private int n = 1;

    public Box(int n) { this.n = n; }

    /** Counts. */
    @Override
    public int count(List<T> of) {
        Runnable r = new Runnable() { public void run() {} };
        return n;
    }
}
""",
        """
5 1 class class Box
12 2 method Box()
14 2 method count()
""",
    ),
    (
        "B.java",
        r"""public class B {
    static class Inner {
        void f() {}
    }

    static { load(); }

    enum Color { RED { void z() {} }; void q() {} }
}
""",
        """
1 1 class class B
2 2 class class Inner
3 3 method f()
6 2 statements
8 2 enum enum Color
8 3 method z()
8 3 method q()
""",
    ),
    (
        "C.java",
        r"""interface Shape { double area(); }
record Point(int x, int y) { Point { } }
@interface Mark { int value(); }
sealed interface S permits A {}
""",
        """
1 1 interface interface Shape
1 2 method area()
2 1 class record Point
2 2 method Point()
3 1 interface @interface Mark
4 1 interface interface S
""",
    ),
    (
        "a.cs",
        r"""using System;

namespace A.B
{
    /// <summary>A box.</summary>
    [Serializable]
    public class Box<T> : Base
    {
        public Box() { }
        ~Box() { }
        public int Count { get; set; }
        public async Task<int> Add(int a) { int Local() => 1; return a; }
        public static Box<T> operator +(Box<T> a, Box<T> b) => a;
    }
}
""",
        """
3 1 module namespace A.B
5 2 class class Box
9 3 method Box()
10 3 method ~Box()
11 3 statements
12 3 method Add()
13 3 method operator +
""",
    ),
    (
        "b.cs",
        r"""namespace A.B;

#region shapes
interface IShape { double Area(); }
struct P { }
#endregion
enum E { A }
record R(int X);
delegate int D(int x);
""",
        """
4 1 interface interface IShape
4 2 method Area()
5 1 struct struct P
7 1 enum enum E
8 1 class record R
9 1 type delegate D
""",
    ),
    (
        "c.cs",
        r"""int Local() { return 1; }
Console.WriteLine(Local());

static class Extensions
{
    // Shouts.
    public static string Shout(this string s) => s;

    private const int N = 1;
}
""",
        """
1 1 function Local()
2 1 statements
4 1 class class Extensions
6 2 method Shout()
9 2 statements
""",
    ),
    (
        "a.go",
        r"""// Package a.
package a

import "fmt"

// Server serves.
type Server struct {
	x int
}

// Close closes.
func (s *Server) Close() error {
	f := func() {}
	return nil
}
""",
        """
6 1 struct type Server
11 1 method func (s *Server) Close
""",
    ),
    (
        "b.go",
        r"""package a

type (
	// Store stores.
	Store interface{ Get() }
	ID    int
)

type Alias = int
""",
        """
4 1 interface type Store
6 1 type type ID
9 1 type type Alias
""",
    ),
    (
        "c.go",
        r"""package a

func Map[T any, U comparable](a []T) (u []U, err error) {
	return nil, nil
}

func (l List[T]) Len() int { return 0 }
""",
        """
3 1 function func Map
7 1 method func (l List[T]) Len
""",
    ),
    (
        "d.go",
        r"""package a

const (
	A = iota
	B
)

func init() {}

var x = func() int { return 1 }()

func init() {}
""",
        """
8 1 function func init
10 1 statements
12 1 function func init
""",
    ),
    (
        "e.go",
        r"""package a

//go:build linux

//go:noinline
func fast()

func slow() {
	type local struct{}
}
""",
        """
5 1 function func fast
8 1 function func slow
""",
    ),
    (
        "f.go",
        r"""package a

func broken( {
}

func fine() {}
""",
        """
3 1 function func broken
6 1 function func fine
""",
    ),
    (
        "a.rs",
        r"""//! Crate.

use std::fmt;

/// A box.
#[derive(Debug)]

pub struct Box<T> { x: T }

impl<T> fmt::Display for Box<T> {
    /// Formats.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { fn inner() {} Ok(()) }
}
""",
        """
5 1 struct struct Box
10 1 impl impl fmt::Display for Box<T>
11 2 method fn fmt
""",
    ),
    (
        "b.rs",
        r"""impl Box<u8> {
    const N: u8 = 1;
    pub async fn run(&self) {}
    type Y = u8;
}
""",
        """
1 1 impl impl Box<u8>
3 2 method fn run
4 2 type type Y
""",
    ),
    (
        "c.rs",
        r"""pub(crate) trait Shape {
    fn area(&self) -> f64;
    fn twice(&self) -> f64 { 2.0 }
}
enum E { A }
union U { a: u8 }
""",
        """
1 1 trait trait Shape
2 2 method fn area
3 2 method fn twice
5 1 enum enum E
6 1 struct union U
""",
    ),
    (
        "d.rs",
        r"""mod outer {
    #[cfg(test)]
    mod tests {
        #[test]
        fn works() {}
    }
}
mod elsewhere;
""",
        """
1 1 module mod outer
2 2 module mod tests
4 3 function fn works
8 1 statements
""",
    ),
    (
        "e.rs",
        r"""macro_rules! two { () => { 2 } }
type Id = u8;
const N: u8 = 1;
fn main() {}
""",
        """
1 1 macro macro_rules! two
2 1 type type Id
3 1 statements
4 1 function fn main
""",
    ),
    (
        "f.rs",
        r"""extern "C" {
    fn c_api(a: u8);
}

unsafe impl Send for A {}

/* block */
fn last<'a>(x: &'a str) -> &'a str where Self: Sized { x }
""",
        """
2 1 function fn c_api
5 1 impl impl Send for A
7 1 function fn last
""",
    ),
    (
        "a.scala",
        r"""package a

/** A box. */
case class Box(n: Int) extends Base {
  private val x = 2
  def count(a: Int): Int = {
    def inner = 1
    inner
  }
}
object Box { def apply() = new Box(1) }
trait Shape { def area: Double }
type Id = Int
""",
        """
3 1 class class Box
6 2 method def count
11 1 object object Box
11 2 method def apply
12 1 trait trait Shape
12 2 method def area
13 1 type type Id
""",
    ),
    (
        "a.kt",
        r"""package a

/** A box. */
@Serializable
data class Box(val n: Int) : Base() {
    fun count(a: Int): Int = 1

    companion object {
        fun build() = Box(1)
    }
}

interface Shape { fun area(): Double }
object Single { }
enum class E { A, B }
typealias Id = Int
// shouts
fun String.shout(): String = this
""",
        """
3 1 class class Box
6 2 method fun count
8 2 statements
9 2 method fun build
13 1 interface interface Shape
13 2 method fun area
14 1 object object Single
15 1 class class E
16 1 type typealias Id
17 1 function fun shout
""",
    ),
    (
        "a.swift",
        r"""import Foundation

/// A box.
@objc
public struct Box<T>: Base {
    var n: Int
    init(n: Int) { self.n = n }
    func count(_ a: Int) -> Int {
        func inner() {}
        return 1
    }
}
extension Box { static func build() {} }
protocol Shape { func area() -> Double }
enum E { case a }
final class C { deinit { } }
actor D {}
typealias Id = Int
func top() {}
let x = 1
""",
        """
3 1 struct struct Box
7 2 method init()
8 2 method func count
13 1 impl extension Box
13 2 method func build
14 1 interface protocol Shape
14 2 method func area
15 1 enum enum E
16 1 class class C
17 1 class actor D
18 1 type typealias Id
19 1 function func top
20 1 statements
""",
    ),
    (
        "a.hs",
        r"""module Main where

import X

-- | Doc of foo.
foo :: Int -> Int
foo 0 = 1
foo n = go n
  where go = id

data A = B | C deriving Show
newtype D = D Int
class Shape a where
  area :: a -> Int
  area x = 1
instance Shape A where
  area x = 2
type T = Int
x = 3
""",
        """
5 1 function foo()
11 1 type data A
12 1 type newtype D
13 1 trait class Shape
14 2 method area()
16 1 impl instance Shape A
17 2 method area()
18 1 type type T
19 1 function x()
""",
    ),
    (
        "a.ml",
        r"""open X
(* adds *)
let rec add a b = a + b
let limit = 3
type t = A | B
module M = struct
  let q () = 1
end
module type S = sig val a : int end
let f = fun x -> x
let () = print 1
""",
        """
2 1 function let add
4 1 statements
5 1 type type t
6 1 module module M
7 2 function let q
9 1 interface module type S
9 2 method val a
10 1 function let f
11 1 statements
""",
    ),
    (
        "a.mli",
        r"""(** Adds. *)
val add : int -> int

type t
""",
        """
1 1 function val add
4 1 type type t
""",
    ),
    (
        "a.zig",
        r"""const std = @import("std");
/// A box.
pub const Box = struct {
    x: u8,
    pub fn go(self: Box) void {}
};
test "adds" {}
fn top() void {}
""",
        """
2 1 struct struct Box
5 2 method fn go
7 1 function test "adds"
8 1 function fn top
""",
    ),
    (
        "a.m",
        r"""#import <X.h>
@interface Box : Base
- (void)put:(int)a at:(int)b;
@end
@implementation Box
// puts
- (void)put:(int)a at:(int)b {
}
@end
int main() { return 0; }
""",
        """
2 1 class @interface Box
5 1 impl @implementation Box
6 2 method - (void)put:(int)a at:(int)b
10 1 function main()
""",
    ),
    (
        "a.groovy",
        r"""// a box
class Box {
  int count(int a) { return 1 }
}
def top(a) { a }
""",
        """
1 1 class class Box
3 2 method count()
5 1 function top()
""",
    ),
]

"""Definitions found in languages of browsers and databases, as line, level, kind and name."""

from tests.definitions import check_samples


def test_definitions_of_the_samples() -> None:
    check_samples(SAMPLES)


SAMPLES = [
    (
        "a.js",
        r"""'use strict';
(function (root) {
  function inner() { return 1; }

  var Thing = function (a) { this.a = a; };

  Thing.prototype.run = function () {
    return inner();
  };

  module.exports = { go: function () { return 2; }, walk() {} };
})(this);
""",
        """
3 1 function function inner
5 1 function Thing()
7 1 function Thing.prototype.run()
11 1 function go()
11 1 method walk()
12 1 statements
""",
    ),
    (
        "a.jsx",
        r"""// shows it
export default function App({ name }) {
  const click = () => go();
  return <div onClick={click}>{name}</div>;
}

const Row = ({ a }) => (
  <td>{a}</td>
);

App.propTypes = {};
""",
        """
1 1 function function App
7 1 function Row()
11 1 statements
""",
    ),
    (
        "a.mjs",
        r"""class A extends B {
  static #x = 1;
  constructor() { super(); }
  *items() { yield 1; }
  // handles
  handler = () => { };
  get size() { return 1; }
}

export default class extends A {}
const K = class { m() {} };
async function* gen() {}
run();
""",
        """
1 1 class class A
3 2 method constructor()
4 2 method items()
5 2 method handler()
7 2 method size()
10 1 class export default class extends A
11 1 class class K
11 2 method m()
12 1 function function gen
13 1 statements
""",
    ),
    (
        "a.ts",
        r"""import { x } from "y";

/** A store. */
@Injectable()
export class Store<T> extends Base<T> {
  private items: T[] = [];

  constructor(private readonly db: Db) { super(); }

  // adds one
  @log
  async add(item: T): Promise<void> {
    function local() {}
  }

  onClick = (e: Event) => { go(); };
}
""",
        """
3 1 class class Store
8 2 method constructor()
10 2 method add()
16 2 method onClick()
""",
    ),
    (
        "a.ts",
        r"""export interface Shape { area(): number; }
export type Id = string | number;
export const enum Color { Red }
export namespace Geo.Inner {
  export function area(s: Shape): number { return 0; }
}
declare module "m" {
  export function q(): void;
}
declare global { interface W {} }
abstract class Ab { abstract z(): void; }
""",
        """
1 1 interface interface Shape
2 1 type type Id
3 1 enum enum Color
4 1 module namespace Geo.Inner
5 2 function function area
7 1 module module "m"
8 2 function function q
10 1 interface interface W
11 1 class class Ab
11 2 method z()
""",
    ),
    (
        "a.tsx",
        r"""export const make = async (n: number): Promise<number> => {
  return n;
};

const limit = 3;

export function over(a: string): void;
export function over(a: any) { }

export default connect(over);
""",
        """
1 1 function make()
5 1 statements
7 1 function function over
8 1 function function over
10 1 statements
""",
    ),
    (
        "a.sql",
        r"""-- People.
CREATE TABLE a.people (x INT);
CREATE OR REPLACE FUNCTION f(x INT) RETURNS INT AS $$ SELECT 1; $$ LANGUAGE sql;
CREATE VIEW v AS SELECT 1;
INSERT INTO a.people VALUES (1);
CREATE TRIGGER t BEFORE INSERT ON a EXECUTE FUNCTION f();
""",
        """
1 1 table CREATE TABLE a.people
3 1 function CREATE FUNCTION f
4 1 view CREATE VIEW v
5 1 statements
6 1 function CREATE TRIGGER t
""",
    ),
    (
        "a.tf",
        r"""# web
resource "aws_instance" "web" {
  ami = 1
  nested { }
}
variable "z" {}
locals { a = 1 }
""",
        """
1 1 definition resource "aws_instance" "web"
6 1 definition variable "z"
7 1 definition locals
""",
    ),
    (
        "a.css",
        r"""@import "x";
/* main */
.a, .b > c { color: red; }
@media (max-width: 1px) {
  .q { a: b }
}
""",
        """
2 1 rule .a, .b > c
4 1 statements
5 1 rule .q
""",
    ),
]

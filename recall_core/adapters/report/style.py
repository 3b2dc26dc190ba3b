"""How the page looks, in light and in dark."""

SIGNAL_COLOURS = {"lexical": "#56b4e9", "semantic": "#e69f00", "rerank": "#009e73"}
"""Okabe and Ito's colours, which people who see colours otherwise can tell apart too; the workbench has the same."""

LINE_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#8c6d31")
LINE_DASHES = ("", "7 3", "2 3", "10 3 2 3")

CSS = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --paper: #fbfbf9; --card: #ffffff;
  --edge: #dcdfe3; --fill: #eef0f2; --lexical: #56b4e9; --semantic: #e69f00; --rerank: #009e73; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ea; --soft: #9aa4af; --paper: #14171a; --card: #1c2024;
  --edge: #343a41; --fill: #262b31; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2.2rem 1.2rem 4rem; }
header p.kind { margin: 0; color: var(--soft); letter-spacing: .08em; text-transform: uppercase; font-size: .75rem; }
h1 { margin: .2rem 0 .8rem; font-size: 1.9rem; line-height: 1.2; font-weight: 650; overflow-wrap: anywhere; }
h2 { margin: 2.6rem 0 .8rem; font-size: 1.15rem; font-weight: 650; border-bottom: 1px solid var(--edge);
  padding-bottom: .3rem; }
p.note { color: var(--soft); margin: .3rem 0 .9rem; font-size: .9rem; }
code, pre, .mono { font-family: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0 0; padding: .7rem .8rem;
  background: var(--fill); border-radius: 6px; font-size: .82rem; line-height: 1.45; }
ul.facts { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .35rem .45rem; }
ul.facts li { background: var(--fill); border-radius: 5px; padding: .1rem .55rem; font-size: .84rem;
  overflow-wrap: anywhere; }
ul.facts b { font-weight: 500; color: var(--soft); margin-right: .35rem; }
ul.plain { padding-left: 1.1rem; margin: .4rem 0; font-size: .9rem; }
article { background: var(--card); border: 1px solid var(--edge); border-radius: 9px; padding: .85rem 1rem;
  margin: 0 0 .8rem; }
.head { display: flex; gap: .8rem; align-items: baseline; }
.rank { font-variant-numeric: tabular-nums; color: var(--soft); min-width: 1.5rem; }
.place { flex: 1; font-weight: 600; overflow-wrap: anywhere; }
.score { font-variant-numeric: tabular-nums; font-weight: 650; }
.heading { color: var(--soft); font-size: .88rem; margin-left: 2.3rem; overflow-wrap: anywhere; }
.excerpt { margin: .45rem 0 .1rem 2.3rem; overflow-wrap: anywhere; }
.bar { display: flex; height: .62rem; background: var(--fill); border-radius: 3px; overflow: hidden;
  margin: .5rem 0 .2rem 2.3rem; }
.lexical { background-color: var(--lexical); } .rerank { background-color: var(--rerank); }
.semantic { background-color: var(--semantic); background-image: repeating-linear-gradient(45deg,
  transparent 0 4px, rgba(0,0,0,.16) 4px 6px); }
.rerank { background-image: radial-gradient(rgba(0,0,0,.25) 1px, transparent 1.4px); background-size: 5px 5px; }
.key { display: inline-block; width: .75rem; height: .75rem; border-radius: 2px; margin-right: .4rem;
  vertical-align: -1px; }
details { margin: .35rem 0 0 2.3rem; } section > details { margin-left: 0; }
summary { cursor: pointer; color: var(--soft); font-size: .86rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 0; font-size: .86rem; }
th, td { text-align: left; padding: .22rem .6rem .22rem 0; border-bottom: 1px solid var(--edge);
  vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 500; color: var(--soft); white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.leaf td:first-child { padding-left: 1.4rem; color: var(--soft); }
tr.sum td { font-weight: 650; border-bottom: 0; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums; }
svg .grid { stroke: var(--edge); } svg .now { stroke: var(--ink); stroke-dasharray: 3 3; }
svg .dot { fill: var(--card); stroke-width: 2.2; }
svg text.mark { fill: var(--ink); font-size: 11px; font-weight: 650; }
svg .block { stroke: var(--card); stroke-width: 1.5; } svg .free { fill: var(--fill); }
ol.legend { list-style: none; padding: 0; margin: .6rem 0 0; columns: 2; column-gap: 2rem; font-size: .86rem; }
ol.legend li { display: flex; gap: .5rem; align-items: center; break-inside: avoid; overflow-wrap: anywhere; }
ol.legend b { min-width: 1.1rem; }
ol.legend svg { width: 2.6rem; flex: none; }
.funnel td.w { width: 45%; } .funnel .bar { margin: .35rem 0 0; }
.funnel .fill { background: var(--lexical); }
footer { margin-top: 3rem; color: var(--soft); font-size: .82rem; overflow-wrap: anywhere; }
@media (max-width: 40rem) { ol.legend { columns: 1; } .heading, .excerpt, .bar, details { margin-left: 0; } }
@media print { article { break-inside: avoid; } }
""".strip()

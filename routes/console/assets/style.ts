/**
 * The style sheet of the console. Colours follow the system, or the choice in `data-theme`.
 */

const SOURCE = `
/* Colours: paper, cards, lines, text; accent, bad and warn with their backgrounds */
:root {
  /* What has the focus is not below the head of its table. */
  scroll-padding: 4rem;
  color-scheme: light dark;
  --bg: light-dark(#f6f7f6, #0e1012);
  --card: light-dark(#fff, #16191c);
  --line: light-dark(#e4e5e2, #2a2f34);
  --edge: light-dark(#8b9097, #6b727a);
  --text: light-dark(#1a1c1f, #e8eaed);
  --soft: light-dark(#5a6067, #a1a8b0);
  --accent: light-dark(#0f6b5c, #5fd3bd);
  --on: light-dark(#fff, #06251f);
  --tint: light-dark(#e6f2ef, #12302b);
  --bad: light-dark(#b3261e, #ff9a92);
  --badbg: light-dark(#fdecea, #3a1a18);
  --warn: light-dark(#7a5200, #f0c36a);
  --warnbg: light-dark(#fff4dc, #35290f);
}
[data-theme=light] { color-scheme: light }
[data-theme=dark] { color-scheme: dark }
* { box-sizing: border-box }
[hidden] { display: none!important }

/* Text */
body { margin: 0; background: var(--bg); color: var(--text); font: .9375rem/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
a { color: var(--accent); text-underline-offset: .2em }
h1 { font-size: 1.5rem; line-height: 1.25 }
h2 { font-size: 1rem; margin: 0 0 .7rem }
h3, table, label { font-size: .9rem }
h1, h3, ul, dl, dd, fieldset { margin: 0 }
p { margin: .4rem 0 }
code, pre, kbd, .mono { font: .8125rem/1.5 ui-monospace, monospace }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px }
.soft, .label, .id, nav a, .who, .head p, dt, thead, small { color: var(--soft) }
.soft, .label, .who, .legend { font-size: .86rem }
.label, .id, .problem, nav a, label, small { display: block }
.label { margin-bottom: .15rem }
.stat { font-size: 1.55rem; line-height: 1.2; overflow-wrap: break-word }
.stat, .brand, tfoot td { font-weight: 650 }
.id { font-size: .75rem }

/* Frame */
.skip { position: absolute; left: -99rem }
.skip:focus { left: .5rem; top: .5rem; background: var(--card); padding: .5rem 1rem; z-index: 9 }
.shell { display: grid; grid-template-columns: 13.5rem minmax(0, 1fr); min-height: 100vh }
.side { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-right: 1px solid var(--line); background: var(--card); padding: 1.1rem .8rem; display: flex; flex-direction: column; gap: 1.2rem }
.brand { display: flex; align-items: center; gap: .55rem; color: var(--text); padding: 0 .5rem }
.brand, nav a, .button { text-decoration: none }
.brand svg { width: 1.5rem; flex: none }
ul { list-style: none; padding: 0 }
nav ul { display: grid; gap: .1rem }
nav a { padding: .35rem .6rem; border-radius: 7px }
nav a:hover { background: var(--bg); color: var(--text) }
nav a[aria-current] { background: var(--tint); color: var(--accent); font-weight: 600 }
.who { margin-top: auto; padding: 0 .5rem; display: grid; gap: .6rem }
.who b { color: var(--text) }
.who div, .head, .acts, .row, .secret, .legend, .theme { display: flex; flex-wrap: wrap }
.who div { gap: .3rem .9rem; align-items: baseline }
.theme { gap: .6rem }
main { padding: 1.6rem clamp(1rem, 3vw, 2.4rem) 3rem; max-width: 80rem; width: 100%; min-width: 0 }
.find { flex: 0 1 25rem }
.head { gap: .4rem 1rem; align-items: center; justify-content: space-between; margin-bottom: 1.3rem }
.head p { margin: .15rem 0 0 }
.card .head { margin-bottom: .6rem }
.acts, .secret { gap: .5rem; align-items: center }
p.acts { margin: 0 0 1.1rem }
.card p.acts { margin: 0 }
td .acts { flex-wrap: nowrap; gap: .9rem }
.bare { max-width: none; min-height: 100vh; display: grid; place-items: center; padding: 1rem }
.bare .card { width: min(27rem, 100%); padding: 2rem }
.bare .brand { padding: 0; margin-bottom: 1.2rem }

/* Cards and notes */
.card, fieldset, pre { border: 1px solid var(--line); border-radius: 8px }
.card { background: var(--card); border-radius: 12px; padding: 1.1rem 1.2rem; margin-bottom: 1.1rem; min-width: 0 }
/* A card grows with its figure, which breaks only where it is wider than the page. */
.cards, .cols { display: flex; flex-wrap: wrap; gap: 1.1rem; margin-bottom: 1.1rem }
.cards>.card { flex: 1 11rem; min-width: auto; max-width: 100% }
.cols>.card { flex: 1 24rem }
.head h2, .cards>.card, .cols>.card, .bare .card { margin: 0 }
.card>form+form, .card>.scroll+form, dl+.acts, [data-live-ended] { margin-top: 1rem }
.note { border-left: 3px solid var(--accent); background: var(--tint); padding: .7rem 1rem; border-radius: 0 8px 8px 0; margin: 0 0 1.1rem }
.tag { padding: .1rem .55rem; border-radius: .7rem; background: var(--line) }
.tag, .button { display: inline-block }
.ok { color: var(--accent); background: var(--tint) }
.bad { color: var(--bad); background: var(--badbg); border-color: var(--bad) }
.problem { color: var(--bad) }
[aria-invalid] { border-color: var(--bad) }
.warn { color: var(--warn); background: var(--warnbg); border-color: var(--warn) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.2rem }
dd { min-width: 0 }

/* Tables scroll inside their card; a shade at the edge shows that there is more. */
.scroll { overflow: auto; margin: 0 -1.2rem; padding: 0 1.2rem; background: linear-gradient(-90deg, var(--card) 40%, transparent) 100%/3rem 100% no-repeat local, linear-gradient(-90deg, #8885, transparent) 100%/.7rem 100% no-repeat }
table { border-collapse: separate; border-spacing: 0; width: 100% }
tr>* { font-weight: inherit; text-align: left; padding: .48rem .6rem .48rem 0; border-bottom: 1px solid var(--line); vertical-align: baseline; overflow-wrap: normal }
tbody, td { white-space: nowrap }
.wrap { min-width: 6rem; white-space: normal; overflow-wrap: anywhere }
.tag, thead { font-size: .8rem }
tbody tr:last-child>* { border-bottom: 0 }
tfoot td { border: solid var(--line); border-width: 1px 0 0 }
.n { text-align: right }
tr>:last-child { padding-right: 0 }

/* Forms */
button, .button, input, select, textarea { font: inherit; border-radius: 8px; background: var(--card); color: var(--text) }
.tag, thead, label, button, .button { font-weight: 550 }
button, .button { padding: .42rem .9rem; border: 1px solid light-dark(#c4c7c3, #474d54); cursor: pointer }
button:hover, .button:hover { border-color: var(--soft) }
.main { background: var(--accent); border-color: var(--accent); color: var(--on) }
.danger { background: var(--bad); border-color: var(--bad); color: var(--on) }
.link { border: 0; background: none; padding: 0; color: var(--accent); text-decoration: underline; font-weight: 400 }
[aria-pressed=true], .head [aria-current] { color: var(--text); font-weight: 600; text-decoration: none }
:disabled { opacity: .5; cursor: default }
small { font-weight: 400 }
input, select, textarea { font-weight: 400; width: 100%; min-height: 2.4rem; margin-top: .2rem; padding: .42rem .6rem; border: 1px solid var(--edge) }
[type=checkbox] { width: auto; min-height: 0; margin: 0 .5rem 0 0; accent-color: var(--accent) }
fieldset { padding: .6rem .9rem; max-height: 21rem; overflow: auto }
fieldset label { font-weight: 400; padding: .15rem 0 }
.form { display: grid; gap: .9rem; max-width: 32rem }
.row { gap: .7rem; align-items: end }
.row label { flex: 1 1 8rem; max-width: 16rem }
.row button { flex: none; min-height: 2.4rem }
.secret input { flex: 1 1 18rem; margin: 0 }
pre { background: var(--bg); padding: .8rem 1rem; margin: .3rem 0; overflow-x: auto }
[data-reply-text] { white-space: pre-wrap }
summary { cursor: pointer; color: var(--accent) }

/* Plots */
.meter { height: .5rem; border-radius: 9px; background: var(--line); overflow: hidden; margin: .5rem 0 .35rem }
.meter svg, .plot>svg { display: block; width: 100% }
.meter svg { height: 100% }
.plot { overflow-x: auto; direction: rtl }
.plot>* { direction: ltr }
.plot>svg { min-width: 34rem; height: auto }
.plot text { fill: var(--soft); font-size: 11px }
.plot .grid { stroke: var(--line) }
.plot a:is(:hover, :focus) rect { opacity: .72 }
.s1 { fill: light-dark(#0f766e, #2dd4bf) }
.s2 { fill: light-dark(#b45309, #f59e0b) }
.s3 { fill: light-dark(#6d28d9, #a78bfa) }
.s4 { fill: light-dark(#be185d, #f472b6) }
.s5 { fill: light-dark(#1d4ed8, #60a5fa) }
.s6 { fill: light-dark(#4d7c0f, #a3e635) }
.s7 { fill: light-dark(#64748b, #94a3b8) }
.fill .meter { margin: .1rem 0 .3rem }
.full { fill: var(--bad) }
.near { fill: var(--warn) }
.legend { gap: .2rem 1rem; margin-top: .5rem }
.legend svg { width: .7rem; margin-right: .35rem }

/* A table that fits needs no box, and its head stays in sight. Narrow: the navigation is a row that scrolls. */
.fits { overflow: clip visible }
.fits thead>*>* { position: sticky; top: 0; background: var(--card); z-index: 1 }
thead a { color: inherit }
.first { order: -1 }
[aria-sort^=a]::after { content: " ▲" }
[aria-sort^=d]::after { content: " ▼" }
@media (max-width: 66em) {
  .shell { display: block }
  .side { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: .7rem .5rem; gap: .6rem }
  nav { overflow-x: auto; padding: .2rem }
  nav ul { display: flex }
  nav a { white-space: nowrap }
  .who { margin: 0; display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center }
  main { padding-top: 1.1rem }
}
@media (max-width: 51.29em) {
  .scroll :is(thead, thead th):not(:has(a)), .scroll td:empty { display: none }
  thead tr::before { content: "Sort by" }
  .scroll tr { display: grid; grid: auto/1fr 1fr; gap: .2rem .8rem; padding: .7rem 0; border-bottom: 1px solid var(--line) }
  .scroll tr>* { position: static; border: 0; padding: 0; white-space: normal; text-align: left; overflow-wrap: anywhere }
  .scroll .acts { flex-wrap: wrap }
  .scroll [data-name]::before { content: attr(data-name); display: block; color: var(--soft); font-size: .75rem }
  dl { display: block }
  dd { margin-bottom: .6rem }
  .plot text { font-size: 15px }
}
@media (forced-colors: active) {
  .tag, .meter { border: 1px solid }
  .meter rect { fill: Highlight }
  .plot [class^=s] { stroke: CanvasText }
  .plot text { fill: CanvasText }
  [aria-current], [aria-pressed=true] { border: 2px solid Highlight }
}
@media print {
  .side, .acts, .shell form { display: none }
  .shell { display: block }
  .scroll { overflow: visible }
  .scroll, body { background: none }
  .card { break-inside: avoid; border: 0; padding: 0 }
}
`;

/** The names of colours, shortened to a letter. */
const COLOURS = [
  ...new Set([...SOURCE.matchAll(/--\w+/g)].map(([name]) => name)),
];

/** As it is served, without comments and indentation and with short names: less than 8 KB. */
export const STYLE: string = SOURCE
  .replaceAll(
    /--\w+/g,
    (name) => `--${(10 + COLOURS.indexOf(name)).toString(36)}`,
  )
  .replaceAll(/\/\*.*?\*\//g, "")
  .replaceAll(/\s*([{};,])\s*/g, "$1")
  .replaceAll(/([\w)-]): /g, "$1:")
  .replaceAll(";}", "}")
  .trim();

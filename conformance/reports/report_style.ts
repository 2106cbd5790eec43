/** The style sheet of the HTML report, which is embedded in the file. */

/** CSS, for light and dark screens and for paper. */
export const STYLE: string = `
:root{--ink:#1d2430;--soft:#5d6675;--line:#dfe3ea;--ground:#fff;--sheet:#f6f7f9;--pass:#12733a;--fail:#b3201f;--open:#8a5a00;--mark:#fff3f2}
@media(prefers-color-scheme:dark){:root{--ink:#dfe4ec;--soft:#98a2b3;--line:#333b47;--ground:#14181e;--sheet:#1c222a;--pass:#67c98c;--fail:#ff8a84;--open:#e2b75c;--mark:#2b1d20}}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;color:var(--ink);background:var(--ground);max-width:72rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 .3rem;letter-spacing:-.01em}
h2{font-size:1.05rem;margin:2.2rem 0 .6rem}
p{margin:.2rem 0}.about{color:var(--soft)}.about code{color:var(--ink)}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{font-size:.92em}
.pass{color:var(--pass)}.fail,.error{color:var(--fail)}.unclear,.not-run{color:var(--open)}
.counts{display:flex;flex-wrap:wrap;gap:.6rem;margin:1.4rem 0 0;padding:0;list-style:none}
.counts li{flex:1 1 7rem;border:1px solid var(--line);border-radius:8px;padding:.6rem .9rem;color:var(--soft)}
.counts b{display:block;font-size:1.7rem;line-height:1.2;font-variant-numeric:tabular-nums}
.bar{display:flex;height:6px;border-radius:3px;overflow:hidden;background:var(--line);margin:.9rem 0 0}
.bar i{display:block}.bar .pass{background:var(--pass)}.bar .fail,.bar .error{background:var(--fail)}.bar .unclear,.bar .not-run{background:var(--open)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:.4rem .7rem;border-bottom:1px solid var(--line)}
th:first-child,td:first-child{text-align:left;font-weight:600}
thead th{color:var(--soft);font-weight:500}
details{border:1px solid var(--line);border-radius:8px;margin:.4rem 0;background:var(--ground)}
details.fail,details.error{color:inherit;border-color:color-mix(in srgb,var(--fail) 45%,var(--line))}
details.unclear,details.not-run,details.pass{color:inherit}
summary{cursor:pointer;padding:.45rem .8rem;display:flex;gap:.7rem;align-items:baseline;flex-wrap:wrap}
summary::-webkit-details-marker{display:none}summary{list-style:none}
summary b{flex:0 0 4.2rem;font-size:.82rem}
summary code{font-weight:600}
summary small{color:var(--soft);margin-left:auto}
summary:hover{background:var(--sheet)}
blockquote{margin:.2rem .9rem .6rem;padding:.1rem .9rem;border-left:3px solid var(--line);color:var(--soft)}
pre{margin:0;padding:.8rem .9rem;background:var(--sheet);border-top:1px solid var(--line);border-radius:0 0 8px 8px;white-space:pre-wrap;overflow-wrap:anywhere;font-size:12.5px;line-height:1.5}
@media(max-width:34rem){th,td{padding:.35rem .25rem;font-size:.8rem}}
@media print{details{break-inside:avoid}body{max-width:none;padding:0}}
`.trim();

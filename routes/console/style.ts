/**
 * The style sheet of the console. Colours follow the system, or the choice in `data-theme`.
 *
 * @module
 */

/** Less than 8 KB. */
export const STYLE: string = `
:root{color-scheme:light dark;--bg:light-dark(#f7f7f5,#101214);--card:light-dark(#fff,#181b1f);--line:light-dark(#e3e3de,#2b3036);--text:light-dark(#1b1d20,#e8eaed);--soft:light-dark(#5c6168,#a1a8b0);--accent:light-dark(#0f6b5c,#5fd3bd);--on:light-dark(#fff,#06251f);--tint:light-dark(#e6f2ef,#12302b);--bad:light-dark(#b3261e,#ff9a92);--badbg:light-dark(#fdecea,#3a1a18);--warn:light-dark(#7a5200,#f0c36a);--warnbg:light-dark(#fff4dc,#35290f);--c1:light-dark(#0f766e,#2dd4bf);--c2:light-dark(#b45309,#f59e0b);--c3:light-dark(#6d28d9,#a78bfa);--c4:light-dark(#be185d,#f472b6);--c5:light-dark(#1d4ed8,#60a5fa);--c6:light-dark(#4d7c0f,#a3e635);--c7:light-dark(#64748b,#94a3b8)}
[data-theme=light]{color-scheme:light}[data-theme=dark]{color-scheme:dark}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--text);font:15px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
a{color:var(--accent);text-underline-offset:.15em}
h1{font-size:1.45rem;line-height:1.25;margin:0;letter-spacing:-.015em}h2{font-size:1rem;margin:0 0 .7rem}h3{font-size:.9rem;margin:1rem 0 .4rem}
p{margin:.4rem 0}code,pre,kbd,.mono{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,monospace}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:-99rem}.skip:focus{left:.5rem;top:.5rem;background:var(--card);padding:.5rem 1rem;z-index:9}
.shell{display:grid;grid-template-columns:13.5rem minmax(0,1fr);min-height:100vh}
.side{position:sticky;top:0;height:100vh;overflow-y:auto;border-right:1px solid var(--line);background:var(--card);padding:1.1rem .8rem;display:flex;flex-direction:column;gap:1.2rem}
.brand{display:flex;align-items:center;gap:.55rem;font-weight:650;color:var(--text);text-decoration:none;padding:0 .5rem}.brand svg{width:1.5rem;height:1.5rem;flex:none}
nav ul{list-style:none;margin:0;padding:0;display:grid;gap:.1rem}
nav a{display:block;padding:.38rem .6rem;border-radius:7px;color:var(--soft);text-decoration:none}nav a:hover{background:var(--bg);color:var(--text)}nav a[aria-current]{background:var(--tint);color:var(--accent);font-weight:600}
.who{margin-top:auto;padding:0 .5rem;font-size:.85rem;color:var(--soft);display:grid;gap:.5rem}.who b{color:var(--text)}.who form{display:inline}.who div{display:flex;flex-wrap:wrap;gap:.2rem .9rem}
main{padding:1.6rem clamp(1rem,3vw,2.4rem) 3rem;max-width:76rem;width:100%;min-width:0}
.head{display:flex;flex-wrap:wrap;gap:.6rem 1rem;align-items:center;justify-content:space-between;margin-bottom:1.3rem}.head p{color:var(--soft);margin:.15rem 0 0}.acts{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}td .acts{flex-wrap:nowrap;gap:.8rem}.card .head{margin:0}
.find{margin-bottom:1.4rem}.find input{width:min(25rem,100%)}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1.1rem 1.2rem;margin-bottom:1.1rem;min-width:0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(13.5rem,100%),1fr));gap:1rem;margin-bottom:1.1rem}.cards .card{margin:0}
.stat{font-size:1.55rem;font-weight:650;letter-spacing:-.02em;line-height:1.2}.label,.soft{color:var(--soft);font-size:.87rem}.label{display:block;margin-bottom:.15rem}
.cols>.card{margin:0}.cols{margin-bottom:1.1rem;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),1fr));gap:1.1rem}
.note{border-left:3px solid var(--accent);background:var(--tint);padding:.7rem 1rem;border-radius:0 8px 8px 0;margin:0 0 1.1rem}.note.bad{border-color:var(--bad);background:var(--badbg)}.note.warn{border-color:var(--warn);background:var(--warnbg)}
.scroll{overflow-x:auto;margin:0 -1.2rem;padding:0 1.2rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{text-align:left;padding:.48rem .9rem .48rem 0;border-bottom:1px solid var(--line);vertical-align:baseline;overflow-wrap:normal}
td:not(.wrap),th{white-space:nowrap}td.wrap{min-width:14rem;overflow-wrap:anywhere}
th{font-weight:550;color:var(--soft);font-size:.8rem}tbody tr:last-child>*{border-bottom:0}tfoot td,tfoot th{font-weight:650;color:var(--text)}.n{text-align:right}th:last-child,td:last-child{padding-right:0}
caption{text-align:left;color:var(--soft);font-size:.85rem;padding-bottom:.4rem}
.tag{display:inline-block;padding:.05rem .5rem;border-radius:99px;font-size:.79rem;font-weight:550;background:var(--bg);border:1px solid var(--line);white-space:nowrap}.tag.ok{color:var(--accent);background:var(--tint);border-color:transparent}.tag.bad{color:var(--bad);background:var(--badbg);border-color:transparent}.tag.warn{color:var(--warn);background:var(--warnbg);border-color:transparent}
button,.button{font:inherit;font-weight:550;display:inline-block;padding:.42rem .9rem;border:1px solid var(--line);border-radius:8px;background:var(--card);color:var(--text);cursor:pointer;text-decoration:none}button:hover,.button:hover{border-color:var(--soft)}
.main{background:var(--accent);border-color:var(--accent);color:var(--on)}.danger{background:var(--bad);border-color:var(--bad);color:light-dark(#fff,#2a0a08)}.link{border:0;background:none;padding:0;color:var(--accent);text-decoration:underline;text-underline-offset:.15em;font-weight:400}
label{display:block;font-weight:550;font-size:.9rem}label small,fieldset small{display:block;font-weight:400;color:var(--soft)}
input,select,textarea{font:inherit;font-weight:400;width:100%;min-height:2.4rem;padding:.42rem .6rem;border:1px solid light-dark(#8b9097,#6b727a);border-radius:8px;background:var(--card);color:var(--text)}input[type=checkbox],input[type=radio]{width:auto;margin:0 .4rem 0 0}
fieldset{border:1px solid var(--line);border-radius:8px;margin:0;padding:.6rem .9rem}fieldset label{font-weight:400}
.form{display:grid;gap:.9rem;max-width:32rem}.row{display:flex;flex-wrap:wrap;gap:.7rem;align-items:end}.row label{flex:1 1 9rem}.row button{flex:none}
.secret{display:flex;gap:.5rem;flex-wrap:wrap}.secret input{font-family:ui-monospace,monospace;flex:1 1 18rem}
pre{background:var(--bg);border:1px solid var(--line);border-radius:8px;padding:.8rem 1rem;margin:.3rem 0;overflow-x:auto;white-space:pre}
.meter{height:.5rem;border-radius:9px;background:var(--line);overflow:hidden;margin:.5rem 0 .35rem}.meter svg{display:block;width:100%;height:100%}.plot{overflow-x:auto}.plot>svg{min-width:34rem;display:block;width:100%;height:auto;}.plot text{fill:var(--soft);font-size:11px}.plot .grid{stroke:var(--line)}.plot a:hover rect,.plot a:focus rect{opacity:.72}
.s1{fill:var(--c1)}.s2{fill:var(--c2)}.s3{fill:var(--c3)}.s4{fill:var(--c4)}.s5{fill:var(--c5)}.s6{fill:var(--c6)}.s7{fill:var(--c7)}.full{fill:var(--bad)}.near{fill:var(--warn)}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:0;margin:.5rem 0 0;font-size:.85rem}.legend svg{width:.7rem;height:.7rem;margin-right:.35rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.35rem 1.2rem;margin:0}dt{color:var(--soft)}dd{margin:0;min-width:0}
.door{max-width:none;min-height:100vh;display:grid;place-items:center;padding:1rem}.door .card{width:min(27rem,100%);padding:2rem}.door .brand{padding:0;margin-bottom:1.2rem}
details summary{cursor:pointer;color:var(--accent)}ol.steps{padding-left:1.2rem}
@media(max-width:820px){.shell{display:block}.side{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line);padding:.7rem 1rem;gap:.6rem}nav{overflow-x:auto;margin:0 -1rem;padding:.2rem 1rem}nav ul{display:flex}nav a{white-space:nowrap}.who{margin:0;display:flex;flex-wrap:wrap;justify-content:space-between}.brand,.who{padding:0}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.6rem}main{padding-top:1.1rem}}
@media(forced-colors:active){.tag,.card,.note{border:1px solid}.meter rect,.plot rect{fill:Highlight}}
@media print{.side,.find,.acts{display:none}.shell{display:block}}
`.trim();

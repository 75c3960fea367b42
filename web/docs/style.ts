/** The style sheet of the page, with a light and a dark color scheme. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --text: light-dark(#1b1f24, #e6e9ed);
  --quiet: light-dark(#57606a, #a3adb8);
  --back: light-dark(#ffffff, #14171a);
  --raised: light-dark(#f4f6f8, #1e2328);
  --line: light-dark(#d3d9df, #3a424a);
  --link: light-dark(#0b57b0, #85b8ff);
}
* { box-sizing: border-box; }
body {
  margin: 0;
  display: grid;
  grid-template-columns: 17rem minmax(0, 1fr);
  font: 1rem/1.5 system-ui, sans-serif;
  color: var(--text);
  background: var(--back);
}
a { color: var(--link); }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 1rem; padding: 0.5rem; background: var(--back); }
nav {
  position: sticky;
  top: 0;
  height: 100vh;
  overflow: auto;
  padding: 1rem;
  background: var(--raised);
  border-right: 1px solid var(--line);
}
nav ul { margin: 0; padding: 0; list-style: none; }
nav ul ul { margin: 0 0 0.75rem; padding-left: 0.75rem; font-size: 0.9rem; }
main { max-width: 64rem; padding: 1rem 2rem 6rem; }
section { margin: 1.5rem 0 2.5rem; padding-top: 0.5rem; border-top: 1px solid var(--line); }
section:target, code:target { background: var(--raised); }
h2 { margin-top: 3rem; }
h3 { margin-bottom: 0.5rem; overflow-wrap: anywhere; }
h4 { margin: 1.25rem 0 0.25rem; }
h5 { margin: 0; font-size: 1rem; }
small, em { color: var(--quiet); font-size: 0.875rem; }
em { font-style: normal; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
code { overflow-wrap: anywhere; }
th code { white-space: nowrap; }
pre { margin: 0.5rem 0; padding: 0.75rem; overflow: auto; background: var(--raised); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { padding: 0.35rem 0.6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
td { min-width: 7rem; }
h3 > span, .head {
  padding: 0.1rem 0.45rem;
  border: 1px solid currentcolor;
  border-radius: 0.25rem;
  font-size: 0.85em;
}
.get, .head { color: light-dark(#0b57b0, #85b8ff); }
.post, .put { color: light-dark(#19692c, #7ddb93); }
.patch { color: light-dark(#7d4e00, #f0c05a); }
.delete { color: light-dark(#b3261e, #ff9d94); }
.answer {
  display: grid; grid-template-columns: 3.5rem minmax(0, 1fr); padding: 0.5rem 0;
  border-bottom: 1px dotted var(--line);
}
.answer p, .answer ul { margin: 0 0 0.35rem; }
@media (max-width: 50rem) {
  body { display: block; }
  nav { position: static; height: auto; border-right: 0; }
  main { padding: 1rem; }
}
@media print { nav { display: none; } }
`

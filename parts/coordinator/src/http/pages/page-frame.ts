/** The frame that every plain page has. @param title and @param body are our own words, never a caller's */
export function pageFrame(title: string, body: string, script = ""): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ResonTech</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/plain.css">
${script === "" ? "" : `<script type="module" src="${script}"></script>\n`}</head>
<body>
<header><a href="/dashboard">ResonTech</a></header>
<main>
${body}
</main>
</body>
</html>
`;
}

export const PLAIN_CSS = `:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
header { padding: .75rem 1.5rem; border-bottom: 1px solid var(--line); font-weight: 600; }
header a { color: inherit; text-decoration: none; }
main { max-width: 44rem; margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.4rem; margin: 0 0 1rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1.5rem 0; }
caption { text-align: start; font-weight: 600; }
th, td { text-align: start; padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--line); }
label { margin-inline-end: .5rem; }
fieldset { border: 1px solid var(--line); border-radius: .4rem; }
fieldset label { display: block; }
input, select { font: inherit; }
code { overflow-wrap: anywhere; }
.unseen { position: absolute; clip-path: inset(50%); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1.5rem; margin: 0 0 1.5rem; }
dt { opacity: .7; }
dd { margin: 0; overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0; }
button, .button { font: inherit; padding: .4rem .9rem; border: 1px solid var(--line); border-radius: .4rem; background: none; color: inherit; cursor: pointer; text-decoration: none; }
button:focus-visible, a:focus-visible, input:focus-visible, select:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
[role="alert"] { border-inline-start: 4px solid; padding-inline-start: 1rem; }
[hidden] { display: none; }
`;

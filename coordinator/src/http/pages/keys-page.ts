import { KEY_SCOPES, type KeyScope, MAX_KEY_DAYS } from "@resontech/contracts/http-identity";
import { pageFrame } from "./page-frame.ts";

const MEANING: Record<KeyScope, string> = {
  storage: "the project's bucket",
  "jobs:read": "look at jobs",
  "jobs:write": "submit and cancel jobs",
  keys: "list and revoke keys",
  "nodes:read": "look at nodes, as an administrator",
  "audit:read": "search the audit log",
};
const CHECKED: readonly KeyScope[] = ["storage", "jobs:read", "jobs:write"];

/** The person's platform keys: listed, minted and revoked. Nothing of a person is in the text. */
export const KEYS_PAGE_HTML = pageFrame(
  "Platform keys",
  `<h1>Platform keys</h1>
<p>A program that acts for you shows a platform key. It does no more than you may in its project.</p>
<p id="loading" role="status">Loading…</p>
<p id="failed" role="alert" hidden></p>
<section id="minted" aria-labelledby="minted-title" tabindex="-1" hidden>
<h2 id="minted-title">The new key</h2>
<p>Copy the key now: it is shown this once.</p>
<p><code id="minted-key"></code></p>
<nav>
<button id="copy" type="button">Copy the key</button>
<button id="done" type="button">I have it</button>
</nav>
<p id="copied" role="status"></p>
</section>
<p id="empty" hidden>You have no platform key that is good.</p>
<table id="keys" hidden>
<caption>Your keys</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Key</th><th scope="col">Project</th><th scope="col">May</th><th scope="col">Good until</th><th scope="col">Last used</th><th scope="col"><span class="unseen">Revoke</span></th></tr></thead>
<tbody id="rows"></tbody>
</table>
<form id="mint" hidden>
<h2>Mint a key</h2>
<p><label for="name">Name</label> <input id="name" name="name" required maxlength="64" autocomplete="off"></p>
<p><label for="project">Project</label> <select id="project" name="project" required></select></p>
<fieldset>
<legend>What the key may do</legend>
${KEY_SCOPES.map(
  (scope) =>
    `<label><input type="checkbox" name="scope" value="${scope}"${CHECKED.includes(scope) ? " checked" : ""}> ${scope}: ${MEANING[scope]}</label>`,
).join("\n")}
</fieldset>
<p><label for="days">Good for so many days</label> <input id="days" name="days" type="number" required min="1" max="${MAX_KEY_DAYS}" value="90"></p>
<p>Minting asks for your second factor, where that is longer than five minutes ago.</p>
<button id="mint-key">Mint the key</button>
</form>
<p id="no-project" hidden>Keys are minted by leads and researchers of a project, and you are neither. Ask a project lead.</p>`,
  "/assets/keys.js",
);

/** Served as it stands. What was filled in outlives the way to Keycloak and back; a key is kept nowhere. */
export const KEYS_PAGE_SCRIPT = `import { ask, fail, keepAlive, reveal, show, when } from "/assets/page.js";

const KEPT = "rt-mint";
const form = document.getElementById("mint");
const filled = () => ({
  name: form.elements.namedItem("name").value,
  projectId: form.elements.namedItem("project").value,
  scopes: [...form.querySelectorAll("[name=scope]:checked")].map(({ value }) => value),
  expiresInDays: Number(form.elements.namedItem("days").value),
});

function cell(row, text) {
  row.insertCell().textContent = text;
}

async function list(session) {
  const names = new Map(session.projects.map(({ id, name }) => [id, name]));
  const keys = (await ask("/api/keys")).filter(({ revokedAt, expiresAt }) => revokedAt === null && Date.parse(expiresAt) > Date.now());
  const rows = document.getElementById("rows");
  rows.replaceChildren();
  for (const key of keys) {
    const row = rows.insertRow();
    cell(row, key.name);
    cell(row, key.prefix + "…" + key.last4);
    cell(row, names.get(key.projectId) ?? "left: the key is refused");
    cell(row, key.scopes.join(", "));
    cell(row, when(key.expiresAt));
    cell(row, key.lastUsedAt === null ? "never" : when(key.lastUsedAt));
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Revoke";
    button.setAttribute("aria-label", "Revoke " + key.name);
    button.addEventListener("click", () => act(session, button, async () => {
      if (!confirm("Revoke the key " + key.name + "? Programs that use it are refused at once.")) return;
      await ask("/api/keys/" + key.id, { method: "DELETE", headers: { "x-rt-csrf": session.csrfToken } });
      await list(session);
    }));
    row.insertCell().append(button);
  }
  reveal("keys", keys.length > 0);
  reveal("empty", keys.length === 0);
}

/** One at a time; what goes wrong is said, and the page goes on. */
async function act(session, button, effect) {
  reveal("failed", false);
  button.disabled = true;
  try {
    await effect();
  } catch (error) {
    fail(error.message);
  } finally {
    button.disabled = false;
  }
}

try {
  const session = await ask("/api/session");
  keepAlive(session);
  const choose = document.getElementById("project");
  const able = session.projects.filter(({ role }) => role === "project-lead" || role === "researcher");
  for (const { id, name } of able) choose.add(new Option(name, id));
  await list(session);
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  sessionStorage.removeItem(KEPT);
  if (kept !== null) {
    form.elements.namedItem("name").value = kept.name;
    choose.value = kept.projectId;
    form.elements.namedItem("days").value = kept.expiresInDays;
    for (const box of form.querySelectorAll("[name=scope]")) box.checked = kept.scopes.includes(box.value);
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    act(session, document.getElementById("mint-key"), async () => {
      const wanted = filled();
      if (wanted.scopes.length === 0) throw new Error("Choose at least one thing that the key may do.");
      sessionStorage.setItem(KEPT, JSON.stringify(wanted));
      const minted = await ask("/api/keys", {
        method: "POST",
        headers: { "content-type": "application/json", "x-rt-csrf": session.csrfToken },
        body: JSON.stringify(wanted),
      });
      sessionStorage.removeItem(KEPT);
      show("minted-key", minted.key);
      show("copied", "");
      reveal("minted");
      document.getElementById("minted").focus();
      await list(session);
    });
  });
  document.getElementById("copy").addEventListener("click", async () => {
    const key = document.getElementById("minted-key");
    try {
      await navigator.clipboard.writeText(key.textContent);
      show("copied", "Copied.");
    } catch {
      getSelection().selectAllChildren(key);
      show("copied", "The browser does not let the page copy: the key is selected, copy it yourself.");
    }
  });
  document.getElementById("done").addEventListener("click", () => {
    show("minted-key", "");
    reveal("minted", false);
    form.elements.namedItem("name").focus();
  });
  reveal("loading", false);
  reveal("mint", able.length > 0);
  reveal("no-project", able.length === 0);
} catch (error) {
  fail(error.message);
}
`;

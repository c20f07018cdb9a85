import { SIGNED_KINDS } from "@resontech/contracts/http-approvals";
import { pageFrame } from "./page-frame.ts";

/** Requests that need a second person: asked for, signed, answered. Nothing of a person is in the text. */
export const APPROVALS_PAGE_HTML = pageFrame(
  "Approvals",
  `<h1>Approvals</h1>
<p>These need two people. Whoever asks and whoever approves shows a second factor. Read what is asked before you show yours: it signs exactly that.</p>
<p id="loading" role="status">Loading…</p>
<p id="failed" role="alert" hidden></p>
<p id="done" role="status" tabindex="-1"></p>
<p id="empty" hidden>There is no request that you may see.</p>
<section id="requests" aria-label="Requests"></section>
<form id="erasure" hidden>
<h2>Ask for an erasure</h2>
<p><label for="subject">Pseudonym in the audit log</label> <input id="subject" name="subject" required maxlength="64" autocomplete="off" placeholder="u_…"></p>
<p><label for="request">Name of the person's request in your files</label> <input id="request" name="request" required maxlength="64" autocomplete="off"></p>
<p><label for="legal-basis">Legal basis</label> <input id="legal-basis" name="legalBasis" required maxlength="64" autocomplete="off" placeholder="gdpr-17"></p>
<button>Ask and sign</button>
</form>
<form id="audit-policy" hidden>
<h2>Ask for another trust policy of the audit log</h2>
<p><label for="policy">The whole policy</label> <input id="policy" name="policy" type="file" required></p>
<button>Ask and sign</button>
</form>`,
  "/assets/approvals.js",
);

/** Served as it stands. What was begun outlives the way to Keycloak and back. */
export const APPROVALS_PAGE_SCRIPT = `import { ask, fail, keepAlive, reveal, show, when } from "/assets/page.js";

const SIGNED = ${JSON.stringify(SIGNED_KINDS)};
const BEGUN = "rt-approval";
const list = document.getElementById("requests");
let session;

const send = (path, body) => ask(path, {
  method: "POST",
  headers: { "content-type": "application/json", "x-rt-csrf": session.csrfToken },
  body: JSON.stringify(body),
});

/** Leaves for Keycloak; what is to follow is kept. */
async function sign(id, answer, then) {
  const { location: next } = await send("/api/approvals/" + id + "/sign", { answer });
  sessionStorage.setItem(BEGUN, JSON.stringify(then));
  location.assign(next);
}

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function button(text, about, effect) {
  const made = element("button", text, { type: "button", "aria-label": text + ": " + about });
  made.addEventListener("click", () => act(made, effect));
  return made;
}

/** One at a time; what goes wrong is said, and the page goes on. */
async function act(made, effect) {
  reveal("failed", false);
  made.disabled = true;
  try {
    await effect();
  } catch (error) {
    fail(error.message);
  } finally {
    made.disabled = false;
  }
}

function shown(one) {
  const article = document.createElement("article");
  article.append(element("h2", one.summary));
  const facts = document.createElement("dl");
  const fact = (name, value) => facts.append(element("dt", name), element("dd", value));
  fact("Request", one.id);
  fact("State", one.state + (one.singlePerson ? ", by one person, as nobody else could answer" : ""));
  fact("Asked by", one.requester.username + ", " + when(one.createdAt));
  if (one.reason !== null) fact("Reason", one.reason);
  if (one.isSigned !== null) fact("Signed by who asks", one.isSigned ? "yes" : "not yet");
  if (one.decider !== null) fact("Answered by", one.decider.username + ", " + when(one.decidedAt));
  article.append(facts);
  const details = document.createElement("details");
  const { kind, ...what } = one.what;
  details.append(element("summary", "Exactly what is asked"), element("pre", kind === "audit-policy" ? what.policy : JSON.stringify(what, null, 2)));
  details.open = one.state === "requested";
  article.append(details);
  if (one.state === "requested") article.append(actions(one));
  return article;
}

function actions(one) {
  const nav = document.createElement("nav");
  const isSigned = SIGNED.includes(one.what.kind);
  const isOwn = one.requester.id === session.user.id;
  const path = "/api/approvals/" + one.id;
  const add = (text, effect) => nav.append(button(text, one.summary, effect));
  if (isOwn && one.isSigned === false) add("Sign the request", () => sign(one.id, "request", one.singlePerson ? { approve: one.id } : { signed: one.id }));
  if (!isOwn && one.isSigned !== false) {
    if (isSigned) add("Sign and approve", () => sign(one.id, "approve", { approve: one.id }));
    else add("Approve", () => answered(path + "/approve", "The request is approved."));
  }
  if (!isOwn) add("Deny", () => answered(path + "/deny", "The request is denied."));
  if (isOwn) add("Take back", () => answered(path + "/withdraw", "The request is taken back."));
  return nav;
}

async function answered(path, text) {
  await send(path, {});
  say(text);
  await look();
}

function say(text) {
  show("done", text);
  document.getElementById("done").focus();
}

async function look() {
  const all = await ask("/api/approvals");
  list.replaceChildren(...all.map(shown));
  reveal("empty", all.length === 0);
}

/** Asked for and not yet signed: it is signed at once. */
async function request(what) {
  const made = await send("/api/approvals", { what });
  await sign(made.id, "request", made.singlePerson ? { approve: made.id } : { signed: made.id });
}

async function goOn({ approve, signed }) {
  if (signed !== undefined) return say("You have signed the request. Somebody else must approve it within 72 hours.");
  await send("/api/approvals/" + approve + "/approve", {});
  say("The request is approved. The operator performs it within a day by: --approval " + approve);
}

try {
  session = await ask("/api/session");
  keepAlive(session);
  const kept = JSON.parse(sessionStorage.getItem(BEGUN) ?? "null");
  sessionStorage.removeItem(BEGUN);
  const roles = new Set(session.roles);
  reveal("erasure", roles.has("security-officer") || roles.has("data-steward"));
  reveal("audit-policy", roles.has("platform-admin"));
  document.getElementById("erasure").addEventListener("submit", (event) => {
    event.preventDefault();
    const { elements } = event.target;
    const value = (name) => elements.namedItem(name).value;
    act(event.submitter, () => request({ kind: "erasure", subject: value("subject"), request: value("request"), legalBasis: value("legalBasis") }));
  });
  document.getElementById("audit-policy").addEventListener("submit", (event) => {
    event.preventDefault();
    act(event.submitter, async () => request({ kind: "audit-policy", policy: await event.target.elements.namedItem("policy").files[0].text() }));
  });
  reveal("loading", false);
  if (kept !== null) await goOn(kept).catch((error) => fail(error.message));
  await look();
} catch (error) {
  fail(error.message);
}
`;

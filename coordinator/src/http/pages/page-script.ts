/** What the scripts of all plain pages share. Served as it stands. */
export const PAGE_SCRIPT = `export const show = (id, text) => { document.getElementById(id).textContent = text; };
export const reveal = (id, isShown = true) => { document.getElementById(id).hidden = !isShown; };
export const fail = (text) => { reveal("loading", false); show("failed", text); reveal("failed"); };
export const when = (instant) => new Date(instant).toLocaleString([], { dateStyle: "medium", timeStyle: "short", timeZoneName: undefined }) + " (" + Intl.DateTimeFormat().resolvedOptions().timeZone + ")";

/** The answer's code is the error's. Who is not signed in is sent there, and who must show a second factor as well. */
export async function ask(path, init) {
  const answer = await fetch(path, { credentials: "same-origin", ...init });
  const body = await answer.json().catch(() => ({}));
  if (answer.ok) return body;
  const leave = answer.status === 401 ? "/auth/sign-in" : body.code === "step_up_required" ? "/auth/step-up" : null;
  if (leave !== null) location.assign(leave + "?return=" + encodeURIComponent(location.pathname));
  throw Object.assign(new Error((body.message ?? answer.statusText) + ". " + (body.hint ?? "")), { code: body.code });
}

/** Tells once a minute that the person is at work. */
export function keepAlive(session) {
  let told = Date.now();
  for (const input of ["keydown", "pointerdown", "pointermove"])
    addEventListener(input, () => {
      if (Date.now() - told < 60_000) return;
      told = Date.now();
      ask("/api/session/activity", { method: "POST", headers: { "x-rt-csrf": session.csrfToken } }).catch(() => {});
    }, { passive: true });
}
`;

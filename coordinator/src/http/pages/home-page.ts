import { pageFrame } from "./page-frame.ts";

/** Who one is, and the job that the address names. The page asks for both; nothing of a person is in its text. */
export const HOME_PAGE_HTML = pageFrame(
  "Signed in",
  `<h1>Signed in</h1>
<p id="loading" role="status">Loading…</p>
<p id="failed" role="alert" hidden></p>
<section id="who" hidden>
<dl>
<dt>Name</dt><dd id="username"></dd>
<dt>Roles</dt><dd id="roles"></dd>
<dt>Projects</dt><dd id="projects"></dd>
<dt>Sign-in</dt><dd id="acr"></dd>
<dt>Ends</dt><dd id="ends"></dd>
</dl>
</section>
<section id="job" hidden>
<h1>Job</h1>
<dl>
<dt>Id</dt><dd id="job-id"></dd>
<dt>Name</dt><dd id="job-name"></dd>
<dt>State</dt><dd id="job-state"></dd>
</dl>
</section>
<nav>
<a class="button" href="/dashboard/keys">Platform keys</a>
<button id="sign-out" type="button">Sign out</button>
<button id="sign-out-everywhere" type="button">Sign out everywhere</button>
<a class="button" href="/auth/credential/passkey">Add a passkey</a>
<a class="button" href="/auth/credential/code">Set up a code generator</a>
<a class="button" href="/auth/credential/password">Change the password</a>
</nav>`,
  "/assets/home.js",
);

/** Served as it stands: modules of browsers need no build. */
export const HOME_PAGE_SCRIPT = `import { ask, fail, keepAlive, reveal, show, when } from "/assets/page.js";

try {
  const session = await ask("/api/session");
  show("username", session.user.username);
  show("roles", session.roles.join(", ") || "none on the whole appliance");
  show("projects", session.projects.map(({ name, role }) => name + " (" + role + ")").join(", ") || "none");
  show("acr", session.acr === "2" ? "with a second factor" : "without a second factor");
  show("ends", when(session.endsAt) + ", or after 15 minutes without input");
  reveal("loading", false);
  reveal("who");
  for (const id of ["sign-out", "sign-out-everywhere"])
    document.getElementById(id).addEventListener("click", async () => {
      try {
        const { location: next } = await ask("/auth/" + id, { method: "POST", headers: { "x-rt-csrf": session.csrfToken } });
        location.assign(next);
      } catch (error) {
        fail(error.message);
      }
    });
  keepAlive(session);
  const id = /^\\/dashboard\\/jobs\\/([^/]+)$/.exec(location.pathname)?.[1];
  if (id !== undefined) {
    const job = await ask("/api/customer/dashboard/jobs/" + id);
    show("job-id", job.jobId);
    show("job-name", job.jobName);
    show("job-state", job.state);
    reveal("job");
  }
} catch (error) {
  fail(error.message);
}
`;

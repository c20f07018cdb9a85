import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { actorsIn, comparisonsIn } from "./comparisons.ts";

const SRC = join(import.meta.dirname, "..", "..", "src");
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.startsWith("authorization/"))
  .sort();
const found = (look: (source: string) => string[]) =>
  Object.fromEntries(
    files
      .map((file) => [file, look(readFileSync(join(SRC, file), "utf8"))] as const)
      .filter(([, texts]) => texts.length > 0),
  );

const BY_NODE = "SQL node_id = ?";
const BY_OWNER = "SQL owner_id = ?";
const BY_PROJECT = "SQL project_id = ?";
const BY_USER = "SQL user_id = ?";
/** What looks like a right and is none. A line more here needs a reason as good as these. */
const NO_RIGHTS: Record<string, { why: string; texts: string[] }> = {
  "audit/decisions/read-filters.ts": {
    why: "what an entry of the log holds, as a search names it",
    texts: ["{ holds }"],
  },
  "http/routes/audit-questions.ts": {
    why: "what an entry of the log holds, as a question names it",
    texts: ["{ holds }"],
  },
  "use/host-history.ts": {
    why: "what of the appliance lies on a disk",
    texts: ["disk.holds", "disk.holds"],
  },
  "http/routes/hugging-face.ts": {
    why: "names who asks, and of which projects",
    texts: ['caller.kind === "service-account"', 'caller.kind === "session"'],
  },
  "front/answer-front.ts": {
    why: "finds out whose an access key is",
    texts: ["accessKeyId === adminAccessKeyId"],
  },
  "inference/call-usage.ts": {
    why: "one of the projects that the door let through",
    texts: [BY_PROJECT],
  },
  "kernel/job-lists.ts": {
    why: "one of the projects that the door let through",
    texts: [BY_PROJECT],
  },
  "kernel/queue-views.ts": {
    why: "one of the projects that the door let through",
    texts: [BY_PROJECT, BY_PROJECT],
  },
  "identity/bucket-store.ts": {
    why: "a project's bucket, looked up; a user is written",
    texts: [BY_PROJECT, BY_PROJECT, BY_PROJECT],
  },
  "http/model-sources.ts": {
    why: "whether a model would leave its project; it refuses more, and lets nothing through",
    texts: ["findBucket(read, bucket)?.projectId !== callerOfRequest(request).projectId"],
  },
  "job-mails/mail-request-store.ts": {
    why: "the caller's own wishes, looked up and written",
    texts: Array<string>(5).fill(BY_USER),
  },
  "identity/pair-store.ts": {
    why: "key pairs of a user: what the engine holds is made equal to who may have one",
    texts: Array<string>(7).fill(BY_USER),
  },
  "identity/project-store.ts": {
    why: "a user's first project and a project's members, looked up and written",
    texts: [
      ...[BY_OWNER, BY_PROJECT, BY_PROJECT, BY_USER, BY_PROJECT, BY_USER, BY_USER],
      ...[BY_PROJECT, "SQL user_id <> ?", BY_PROJECT, BY_USER],
    ],
  },
  "identity/hand-over.ts": {
    why: "whose jobs get another owner",
    texts: [BY_OWNER, BY_OWNER, BY_USER, BY_PROJECT, BY_USER],
  },
  "identity/ssh-key-store.ts": {
    why: "a person's SSH keys, read and written",
    texts: [BY_USER, BY_USER],
  },
  "http/routes/ssh-keys.ts": {
    why: "a key has no profile to change",
    texts: ['caller?.kind !== "session"'],
  },
  "identity/decisions/personal-columns.ts": {
    why: "what is held about one person, whom the door let through",
    texts: [
      ...[...Array<string>(7).fill("SQL user_id = @"), "SQL owner_id = @"],
      ...["SQL user_id = @", "SQL user_id = @", "SQL key_id IN ("],
      ...[...Array<string>(6).fill("SQL user_id = @"), "SQL owner_id = @"],
      ...Array<string>(15).fill("SQL user_id = @"),
    ],
  },
  "identity/own-bucket.ts": {
    why: "whether others work in the bucket of a person who is forgotten; the bucket's row is written",
    texts: ["SQL project_id = @", "SQL user_id <> @", "SQL project_id = ?"],
  },
  "identity/restored-administrators.ts": {
    why: "an administrator whom the host made, and who acknowledges",
    texts: ["SQL user_id = @", "userId === by", BY_USER],
  },
  "metrics/decisions/samples.ts": { why: "a sentence of a metric", texts: ["disk.holds"] },
  "identity/role-holders.ts": {
    why: "roles of a person, read and written",
    texts: ["SQL user_id = ?", "SQL user_id = ?", "SQL user_id <> ?"],
  },
  "http/routes/keys.ts": {
    why: "a new key's scopes, as its person wants them",
    texts: ["{ scopes }"],
  },
  "policy-trial/main.ts": {
    why: "what the release before noted of keys is read",
    texts: ['caller.type !== "PlatformKey"'],
  },
  "http/routes/person-sessions.ts": {
    why: "which of the sessions the request itself came by",
    texts: ['caller?.kind === "session"', "ids.includes(caller.sessionId)"],
  },
  "http/routes/service-accounts.ts": {
    why: "what a service account may is shown",
    texts: ["{ scopes }"],
  },
  "http/routes/sign-in.ts": {
    why: "whoever asks is shown the own roles and projects; a key has no session to show",
    texts: [
      "session.roles",
      'caller.kind === "key"',
      "id === caller.projectId",
      'caller.kind === "service-account"',
      "caller.grants",
      'request.caller?.kind !== "session"',
    ],
  },
  "identity/accounts/account-links.ts": {
    why: "a user is looked up by id; a new account gets the roles that its person holds here",
    texts: ["one.userId === userId", "user.roles"],
  },
  "identity/accounts/keycloak-accounts.ts": {
    why: "an account is linked to the user whose id it carries, and to nobody else",
    texts: ["found.attributes?.[USER_ATTRIBUTE]?.[0] !== userId"],
  },
  "identity/service-accounts/service-account-store.ts": {
    why: "a service account's row becomes one or is written; those of a project",
    texts: ["{ scopes }", BY_PROJECT, BY_PROJECT, BY_PROJECT, "{ scopes }"],
  },
  "identity/service-accounts/service-accounts.ts": {
    why: "an account becomes a caller",
    texts: ["{ scopes }"],
  },
  "identity/directories/group-store.ts": {
    why: "what a group gives in a project is taken back; groups of a person are written",
    texts: [
      "SQL project_id = ?",
      ...["SQL user_id = @", "SQL user_id = @", "SQL user_id = @"],
      "SQL user_id = ?",
    ],
  },
  "identity/people-store.ts": {
    why: "projects of a person become grants of a caller, the own one first",
    texts: ["SQL user_id = ?", "SQL user_id = ?", BY_OWNER, "{ roles }"],
  },
  "identity/sign-in/open-id-provider.ts": {
    why: "claims of a token are handed on",
    texts: ["{ roles }", "{ roles }"],
  },
  "identity/sign-in/session-store.ts": {
    why: "roles of a session, read and written; a person's sessions",
    texts: ["row.roles", "session.roles", "{ roles }", BY_USER],
  },
  "identity/sign-in/sessions.ts": {
    why: "a session becomes a caller",
    texts: [
      ...["session.roles", "signedIn.roles", "{ roles }"],
      "session.id !== sessionId",
      ...["session.roles", "session.roles", "session.roles"],
      "fresh.roles",
    ],
  },
  "identity/sign-in/sign-in.ts": {
    why: "whether a second factor must be shown before there is a caller; who signs is who began",
    texts: ["signedIn.roles", "pending.signs.by !== userId"],
  },
  "identity/sign-in/step-up-signatures.ts": {
    why: "what a person signed for a request, looked up",
    texts: ["SQL user_id = @"],
  },
  "http/routes/approvals.ts": {
    why: "a key has no second factor to sign with",
    texts: ['caller.kind !== "session"'],
  },
  "storage/export-grants.ts": {
    why: "what was released to a person, looked up",
    texts: [BY_USER],
  },
  "http/routes/access-review.ts": {
    why: "what a review of access shows",
    texts: ["person.roles"],
  },
  "identity/access-store.ts": {
    why: "roles and scopes are read for a review of access, which shows them",
    texts: ["{ roles }", "{ scopes }"],
  },
  "identity/decisions/access-marks.ts": {
    why: "what a reviewer should look at: nothing is allowed by it",
    texts: ["{ roles }"],
  },
  "identity/key-store.ts": {
    why: "a key's row becomes a caller or is shown; how many keys a user has; a key is written",
    texts: [
      "row.scopes",

      "row.scopes",
      BY_USER,
      BY_USER,
      "key.scopes",
      BY_PROJECT,
      BY_USER,
    ],
  },
  "http/routes/inference.ts": {
    why: "an address, and the key to it, stay in their project",
    texts: ["from.projectId !== projectId"],
  },
  "kernel/decisions/worker-filter.ts": {
    why: "the job's own wish for nodes of its owner",
    texts: ["node?.ownerId !== gang.userId"],
  },
  "kernel/desired-set.ts": {
    why: "members of a node, and whether it keeps inputs for their project; an agent gives a guest nothing of it",
    texts: [BY_NODE, "cache?.project === job.project_id"],
  },
  "kernel/fleet-views.ts": { why: "workers of a node", texts: [BY_NODE, BY_NODE] },
  "kernel/array-views.ts": {
    why: "one of the projects that the door let through",
    texts: [BY_PROJECT],
  },
  "kernel/input-caches.ts": { why: "the pool of a node", texts: [BY_NODE] },
  "kernel/job-bridges.ts": {
    why: "which members share a node with their server",
    texts: ["node_id !== home", "member.node_id === home", "home === member.node_id"],
  },
  "kernel/pool-table.ts": { why: "the node that leaves a pool", texts: [BY_NODE] },
  "kernel/replace-member.ts": {
    why: "whether a member shares a node with its server",
    texts: ["home === nodeId"],
  },
  "kernel/person-queues.ts": {
    why: "how many jobs of one person wait; it refuses more, and lets nothing through",
    texts: ["SQL user_id IN ("],
  },
  "kernel/submit.ts": {
    why: "an idempotency key is unique in its project; a job waits for jobs, and names a pool, of its own project alone",
    texts: ["SQL project_id = ?", "pool.project !== projectId", "job?.project_id !== projectId"],
  },
  "http/require-readable-jobs.ts": {
    why: "a job waits for jobs of its own project alone; it refuses more, and lets nothing through",
    texts: ["job?.projectId === projectId"],
  },
  "http/routes/schedules.ts": {
    why: "a schedule of a key ends with the key, and repeats jobs of its own project alone",
    texts: ['caller.kind === "key"', "found?.projectId === projectId"],
  },
  "schedules/schedule-store.ts": {
    why: "one of the projects that the door let through; how many schedules a project has",
    texts: [BY_PROJECT, BY_PROJECT],
  },
  "schedules/why-no-run.ts": {
    why: "the owner of a schedule becomes a caller, whom the door then judges",
    texts: ["membership.projectId === projectId", "key.scopes"],
  },
  "nodes/liveness-monitor.ts": { why: "members of a node", texts: [BY_NODE, BY_NODE] },
  "nodes/node-removal.ts": {
    why: "tokens and members of a node that an operator takes away",
    texts: [BY_NODE, BY_NODE],
  },
  "nodes/node-table.ts": {
    why: "workers of a node",
    texts: [BY_NODE, BY_NODE, BY_NODE, "SQL node_id = @"],
  },
  "nodes/node-upgrades.ts": {
    why: "the order of a node",
    texts: [BY_NODE, BY_NODE, BY_NODE, BY_NODE],
  },
  "nodes/node-views.ts": {
    why: "workers and members of a node, shown",
    texts: [BY_NODE, BY_NODE, BY_NODE],
  },
  "nodes/registry.ts": { why: "members of a node", texts: [BY_NODE] },
};

t.test(
  "nothing but authorization/ compares whose something is, or reads what somebody may",
  async (t) => {
    t.ok(files.length > 100);
    t.same(
      found(comparisonsIn),
      Object.fromEntries(Object.entries(NO_RIGHTS).map(([file, { texts }]) => [file, texts])),
    );
  },
);

t.test("every way in asks the door", async (t) => {
  const ways = {
    "http/authorization.ts": "decide(request.caller, access.action,",
    "control-app.ts": 'authorize(request, access.action, "every")',
    "bus/agent-requests.ts": "decide(caller, `agent.${verb}`,",
    "front/answer-front.ts": "demand(caller, `front.${question.ask}`,",
    "nodes/join-tokens.ts": 'demand(caller, "node.join",',
    "nodes/registry.ts": 'isAllowed(caller, "member.act",',
  };
  for (const [file, call] of Object.entries(ways))
    t.ok(readFileSync(join(SRC, file), "utf8").includes(call), file);
});

t.test("nothing but authorization/ makes an actor of the audit log", async (t) => {
  t.same(found(actorsIn), {});
});

t.test("such code is found, and what only looks like it is not", async (t) => {
  const compared = (source: string) =>
    t.same(comparisonsIn(source), [source.replace(/;$/, "")], source);
  compared("job.userId === caller.userId;");
  compared("view?.projectId !== projectId;");
  compared("row.owner_id == user;");
  compared("ids.includes(job.projectId);");
  compared("owners.has(userId);");
  compared("caller.isAdmin;");
  compared("member.node === caller.node;");
  compared('request.caller?.kind === "key";');
  t.same(comparisonsIn("function f({ isAdmin: may }: Caller) {}"), ["{ isAdmin: may }"]);
  t.same(comparisonsIn('if (caller.scopes.includes("keys")) f();'), ["caller.scopes"]);
  t.same(comparisonsIn('db.prepare("SELECT 1 FROM platform_keys WHERE id = ? AND user_id = ?");'), [
    "SQL user_id = ?",
  ]);
  t.same(comparisonsIn("db.prepare(`SELECT * FROM jobs WHERE project_id IN (${ids}) ${more}`);"), [
    "SQL project_id IN (",
  ]);
  for (const harmless of [
    "// caller.isAdmin === true",
    "type A = { isAdmin: boolean; userId: string };",
    "job.userId === null;",
    "request.caller === null;",
    "const row = { userId, isAdmin };",
    "db.prepare(`SELECT * FROM jobs JOIN users u ON u.id = user_id`);",
    "f(job.userId);",
  ])
    t.same(comparisonsIn(harmless), [], harmless);
  t.same(actorsIn('const actor = { sub: node, kind: "node" };'), ['{ sub: node, kind: "node" }']);
  t.same(actorsIn('const object = { kind: "node", id: node };'), []);
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import {
  policiesInForce,
  putInForce,
  shippedPolicies,
} from "../../src/authorization/policies-in-force.ts";
import { findBucketOfProject } from "../../src/identity/bucket-store.ts";
import { releasedVersions } from "../../src/storage/export-grants.ts";
import { SignInHouse } from "../helper/sign-in-house.ts";

t.setTimeout(600_000);
const house = await SignInHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());

async function person(username: string, roles: readonly string[] = []) {
  const account = await house.addAccount(username, roles);
  const userId = await house.firstSignIn(account);
  return { ...account, userId, ask: await house.signedIn(userId, { roles }) };
}
const rolesAtKeycloak = async (subject: string) =>
  (await house.admin.get<{ name: string }[]>(`/resontech/users/${subject}/role-mappings/realm`))
    .map(({ name }) => name)
    .filter((name) => !name.startsWith("default-roles"));
const roleChange = (userId: string, role: string, change = "grant") => ({
  what: { kind: "role", userId, role, change },
});

const root = await person("root", ["platform-admin"]);
const olga = await person("olga");

t.test("while nobody else could approve, the first officer is made at once, marked", async (t) => {
  const made = await root.ask(
    "POST",
    "/api/approvals",
    roleChange(olga.userId, "security-officer"),
  );
  t.match(made, {
    status: 201,
    body: {
      state: "approved",
      singlePerson: true,
      summary: "olga becomes security-officer",
      requester: { username: "root" },
    },
  });
  t.same(await rolesAtKeycloak(olga.subject), ["security-officer"]);
  t.match(await olga.ask("GET", "/api/me"), { status: 401 }, "the older session is over");
  t.match(
    house.api.audit.drafts.filter(({ type }) => /^iam\.(approval|role)/.test(type)),
    [
      {
        type: "iam.approval.request",
        phase: "requested",
        detail: { kind: "role", single_person: true },
      },
      {
        ...{ type: "iam.role.change", phase: "requested" },
        detail: { role: "security-officer", requester: root.userId, single_person: true },
      },
      { type: "iam.role.change", phase: "completed" },
      { type: "iam.approval.request", phase: "completed" },
    ],
  );
});

t.test("from then on a request waits for the officer, who is somebody else", async (t) => {
  const officer = await house.signedIn(olga.userId, { roles: ["security-officer"] });
  const anna = await person("anna");
  const asked = await root.ask("POST", "/api/approvals", roleChange(anna.userId, "data-steward"));
  t.match(asked, { status: 201, body: { state: "requested", decider: null, singlePerson: false } });
  const path = `/api/approvals/${String(asked.body["id"])}`;
  t.same(await rolesAtKeycloak(anna.subject), []);
  t.match(await root.ask("POST", `${path}/approve`, {}), { status: 403 }, "not the requester");
  t.match(await anna.ask("GET", path), { status: 404 }, "nobody else sees it");

  const old = await house.signedIn(olga.userId, { roles: ["security-officer"], acr: "1" });
  t.match(await old("POST", `${path}/approve`, {}), {
    status: 403,
    body: { code: "step_up_required" },
  });
  t.match(await officer("POST", `${path}/approve`, { reason: "agreed on the phone" }), {
    status: 200,
    body: { state: "approved", decider: { username: "olga" } },
  });
  t.same(await rolesAtKeycloak(anna.subject), ["data-steward"]);
  t.match(
    house.api.audit.drafts.findLast(
      ({ type, phase }) => type === "iam.role.change" && phase === "requested",
    ),
    {
      object: { kind: "user", id: anna.userId },
      detail: {
        ...{ role: "data-steward", change: "grant", approval: asked.body["id"] },
        ...{ requester: root.userId, approvers: [olga.userId] },
      },
    },
    "the effect tells who asked and who agreed",
  );
  t.match(await officer("POST", `${path}/deny`, {}), {
    status: 409,
    body: { code: "approval_answered" },
  });

  const again = await root.ask("POST", "/api/approvals", roleChange(anna.userId, "data-steward"));
  t.match(again, { status: 409, body: { code: "role_unchanged" } });
  const denied = await root.ask(
    "POST",
    "/api/approvals",
    roleChange(anna.userId, "data-steward", "revoke"),
  );
  t.match(await officer("POST", `/api/approvals/${String(denied.body["id"])}/deny`, {}), {
    body: { state: "denied" },
  });
  t.same(await rolesAtKeycloak(anna.subject), ["data-steward"]);
});

t.test("duties stay apart, and the last administrator stays", async (t) => {
  t.match(await root.ask("POST", "/api/approvals", roleChange(olga.userId, "compliance-auditor")), {
    status: 409,
    body: { code: "duties_conflict" },
  });
  t.match(
    await root.ask("POST", "/api/approvals", roleChange(root.userId, "platform-admin", "revoke")),
    { status: 409, body: { code: "last_admin" } },
  );
  t.match(await root.ask("POST", "/api/approvals", roleChange("u_nobody", "data-steward")), {
    status: 404,
  });
});

t.test("who gains by a request does not approve it", async (t) => {
  const officer = await house.signedIn(olga.userId, { roles: ["security-officer"] });
  const asked = await root.ask("POST", "/api/approvals", roleChange(olga.userId, "data-steward"));
  const path = `/api/approvals/${String(asked.body["id"])}`;
  t.match(await officer("POST", `${path}/approve`, {}), {
    ...{ status: 403, body: { code: "own_request" } },
  });
  t.same(await rolesAtKeycloak(olga.subject), ["security-officer"]);
  t.match(await officer("POST", `${path}/deny`, {}), { body: { state: "denied" } });
});

t.test("a lost second factor is taken away by two people", async (t) => {
  const officer = await house.signedIn(olga.userId, { roles: ["security-officer"] });
  const bert = await person("bert");
  const asked = await root.ask("POST", "/api/approvals", {
    what: { kind: "second-factor", userId: bert.userId },
    reason: "the phone is gone",
  });
  t.match(asked, { status: 201, body: { state: "requested" } });
  t.match(await officer("POST", `/api/approvals/${String(asked.body["id"])}/approve`, {}), {
    status: 200,
    body: { state: "approved" },
  });
  t.match(await bert.ask("GET", "/api/me"), { status: 401 });
});

t.test(
  "a lead asks for room, the administrator gives it; the requester may take it back",
  async (t) => {
    const lena = await person("lena");
    const me = await lena.ask("GET", "/api/me");
    const [project] = me.body["projects"] as { id: string }[];
    const body = { what: { kind: "quota", projectId: project!.id, bytes: 5_000_000 } };
    const first = await lena.ask("POST", "/api/approvals", body);
    t.match(first, { status: 201, body: { state: "requested" } });
    t.match(await lena.ask("POST", `/api/approvals/${String(first.body["id"])}/withdraw`), {
      status: 200,
      body: { state: "withdrawn" },
    });
    const second = await lena.ask("POST", "/api/approvals", body);
    t.match(await root.ask("POST", `/api/approvals/${String(second.body["id"])}/approve`, {}), {
      status: 200,
      body: { state: "approved" },
    });
    t.match(
      house.api.audit.drafts.findLast(
        ({ type, phase }) => type === "iam.project.change" && phase === "requested",
      ),
      {
        detail: {
          ...{ quota_bytes: 5_000_000, quota_bytes_before: Number, approval: second.body["id"] },
          ...{ requester: lena.userId, approvers: [root.userId] },
        },
      },
      "from what, to what, for whom, by whom",
    );
    t.match((await lena.ask("GET", "/api/approvals")).body, { length: 2 });
  },
);

t.test(
  "a share is raised by one administrator, and lowered by a second person alone",
  async (t) => {
    const officer = await house.signedIn(olga.userId, { roles: ["security-officer"] });
    const admin = await house.signedIn(root.userId, { roles: ["platform-admin"] });
    const lena = await person("lotte");
    const [project] = (await lena.ask("GET", "/api/me")).body["projects"] as { id: string }[];
    const path = `/api/shares/${project!.id}`;
    t.match(await lena.ask("PUT", path, { guarantee: { cpu: 9 } }), {
      ...{ status: 403, body: { code: "role_required" } },
    });
    t.match(await admin("PUT", path, { guarantee: { cpu: 2, h100: 1 } }), {
      ...{ status: 200, body: { guarantee: { cpu: 2, h100: 1 }, kind: "project", weight: 1 } },
    });
    t.match(await admin("PUT", path, { guarantee: { cpu: 3, h100: 1 }, weight: 2 }), {
      ...{ status: 200, body: { weight: 2 } },
    });
    for (const lower of [{ guarantee: { cpu: 3 } }, { guarantee: {} }, { limit: { cpu: 2 } }])
      t.match(await admin("PUT", path, lower), {
        status: 403,
        body: { code: "approval_required" },
      });
    t.match(await admin("PUT", "/api/shares/p_none", { weight: 1 }), {
      ...{ status: 404, body: { code: "not_found" } },
    });
    t.match(await admin("PUT", "/api/shares/o_own", { guarantee: { cpu: 1 } }), {
      ...{ status: 400, body: { code: "validation_failed", message: /o_own is guaranteed 1/ } },
    });

    const what = { kind: "share", share: project!.id, guarantee: { cpu: 1 } };
    t.match(await lena.ask("POST", "/api/approvals", { what }), { status: 403 });
    const asked = await admin("POST", "/api/approvals", { what, reason: "the devices went" });
    t.match(asked, {
      status: 201,
      body: {
        ...{ state: "requested", singlePerson: false, isSigned: null },
        summary: /^the share of .* becomes guarantee 1 cpu$/,
        changes: [{ what: /^guarantee of /, before: "3 cpu, 1 h100", after: "1 cpu" }],
      },
    });
    const mine = async () => {
      const { body } = await lena.ask("GET", "/api/shares");
      return (body["shares"] as { id: string; guarantee: object }[]).find(
        ({ id }) => id === project!.id,
      );
    };
    t.match(await mine(), { guarantee: { cpu: 3, h100: 1 } }, "as it was until somebody agrees");
    t.match(
      (await lena.ask("GET", "/api/approvals")).body,
      [{ id: asked.body["id"] }],
      "a lead sees what is asked for of the own guarantee",
    );
    const answer = `/api/approvals/${String(asked.body["id"])}/approve`;
    t.match(await admin("POST", answer, {}), { status: 403 });
    t.match(await officer("POST", answer, {}), { status: 200, body: { state: "approved" } });
    t.same((await mine())?.guarantee, { cpu: 1 });
    t.match(
      house.api.audit.drafts.findLast(
        ({ type, phase }) => type === "admin.shares" && phase === "requested",
      ),
      {
        detail: {
          ...{ share: project!.id, guarantee: [{ model: "cpu", workers: 1 }] },
          ...{ approval: asked.body["id"], requester: root.userId, approvers: [olga.userId] },
        },
      },
      "who asked, who agreed",
    );

    const auditor = await person("audrey", ["compliance-auditor"]);
    const reader = await house.signedIn(auditor.userId, { roles: ["compliance-auditor"] });
    const seen = (await reader("GET", "/api/shares")).body["shares"] as { kind: string }[];
    t.ok(seen.filter(({ kind }) => kind === "project").length > 2, "an auditor sees all");
    const own = (await lena.ask("GET", "/api/shares")).body["shares"] as Record<string, unknown>[];
    t.match(own, [{ kind: "organisation" }, { id: project!.id }, { kind: "others", name: null }]);
    t.equal(own.length, 3, "a member sees the own project, what stands above, and a sum");
  },
);

t.test("an administrator asks for an image, an officer answers; nobody else may", async (t) => {
  const officer = await house.signedIn(olga.userId, { roles: ["security-officer"] });
  const admin = await house.signedIn(root.userId, { roles: ["platform-admin"] });
  const lea = await person("lea");
  const body = { what: { kind: "image", name: "triton", digest: `sha256:${"a".repeat(64)}` } };
  t.match(await lea.ask("POST", "/api/approvals", body), { status: 403 });
  const asked = await admin("POST", "/api/approvals", body);
  t.match(asked, {
    status: 201,
    body: { state: "requested", isSigned: null, summary: /sha256:a+ under the name triton/ },
  });
  const answer = `/api/approvals/${String(asked.body["id"])}/approve`;
  t.match(await admin("POST", answer, {}), { status: 403 });
  t.match(await officer("POST", answer, {}), { status: 200, body: { state: "approved" } });
  for (const wrong of [{ name: "../x" }, { digest: "sha256:short" }, { tag: "latest" }])
    t.match(await admin("POST", "/api/approvals", { what: { ...body.what, ...wrong } }), {
      status: 400,
    });
});

t.test("other policies are put in force by two people, and decide from then on", async (t) => {
  const officer = await house.signedIn(olga.userId, { roles: ["security-officer"] });
  const admin = await house.signedIn(root.userId, { roles: ["platform-admin"] });
  const folder = join(import.meta.dirname, "..", "..", "..", "..", "policies", "cedar");
  const files = Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
  const before = policiesInForce().sha256;
  t.teardown(() => putInForce(shippedPolicies()));
  const propose = (changed: Record<string, string>) =>
    admin("POST", "/api/approvals", { what: { kind: "policy", files: changed } });
  t.match(await propose({ ...files, "jobs.cedar": "permit (" }), {
    status: 400,
    body: { code: "policy_set_invalid", message: /jobs\.cedar/ },
  });
  // Without this rule nobody would see people; the list of actions wants one for each.
  const narrower = (files["people.cedar"] ?? "").replace(
    'Role::"compliance-auditor"',
    'Role::"viewer"',
  );
  const asked = await propose({ ...files, "people.cedar": narrower });
  t.match(asked, { status: 201, body: { state: "requested" } });
  t.equal(policiesInForce().sha256, before);
  const path = `/api/approvals/${String(asked.body["id"])}/approve`;
  t.match(await officer("POST", path, {}), { status: 200, body: { state: "approved" } });
  t.not(policiesInForce().sha256, before);
  t.ok(house.api.audit.names.includes("admin.policy:completed"));
});

t.test(
  "outputs leave by approval: asked for by version and digest, released for a day",
  async (t) => {
    const { kernel, database, clock } = house.api;
    const emma = await person("emma");
    const mine = ((await emma.ask("GET", "/api/projects")).body as unknown as { id: string }[])[0]!;
    const exportsOf = `/api/projects/${mine.id}/exports`;
    const officer = await house.signedIn(olga.userId, { roles: ["security-officer"] });
    t.match(await emma.ask("PUT", exportsOf, { byApproval: true }), {
      status: 200,
      body: { byApproval: true },
    });
    t.match(
      await emma.ask("PUT", exportsOf, { byApproval: false }),
      { status: 403 },
      "whom it holds back does not take it away",
    );
    t.match(await root.ask("PUT", exportsOf, { byApproval: false }), { status: 404 });
    t.match(await emma.ask("GET", "/api/projects"), { body: [{ exportsByApproval: true }] });

    const { name: bucket } = findBucketOfProject(database.read, mine.id)!;
    kernel.putRunning({ projectId: mine.id, userId: emma.userId, bucket });
    const file = { key: "jobs/running/model_out/a.pt", versionId: "v1", sha256: "a".repeat(64) };
    kernel.left.push({ ...file, uploadId: "u", sizeBytes: 1, storedAt: 1 });
    const request = (changes: object, ask = emma.ask) =>
      ask("POST", "/api/approvals", {
        what: { kind: "export", jobId: "state-RUNNING", files: [{ ...file, ...changes }] },
      });
    for (const changes of [{ key: "jobs/other" }, { versionId: "v2" }, { sha256: "b".repeat(64) }])
      t.match(await request(changes), { status: 409, body: { code: "export_files_unknown" } });
    t.match(await request({}, root.ask), { status: 404 }, "who runs the box asks for no outputs");
    const asked = await request({});
    t.match(asked, {
      status: 201,
      body: { state: "requested", isSigned: null, summary: /^emma may read 1 output of job/ },
    });
    const path = `/api/approvals/${String(asked.body["id"])}`;
    const released = () =>
      releasedVersions(database.read, { bucket, key: file.key, userId: emma.userId }, clock.now);
    t.same(released(), []);
    t.match(await emma.ask("POST", `${path}/approve`, {}), { status: 403 });
    t.match(await officer("POST", `${path}/approve`, {}), { status: 200 });
    t.same(released(), ["v1"]);
    t.match(
      house.api.audit.drafts.filter(({ type }) => type === "data.output.release"),
      [{ detail: { files: 1, approval: asked.body["id"] } }, { phase: "completed" }],
    );
    clock.now += 24 * 3_600_000;
    t.same(released(), [], "for a day");
    clock.now -= 24 * 3_600_000;
    t.match(
      await (await house.signedIn(olga.userId, { roles: ["security-officer"] }))("PUT", exportsOf, {
        byApproval: false,
      }),
      {
        status: 200,
      },
    );
  },
);

t.test("a request that nobody answers ends", async (t) => {
  const carl = await person("carl");
  const asked = await root.ask("POST", "/api/approvals", roleChange(carl.userId, "data-steward"));
  house.api.clock.now += 73 * 3_600_000;
  await house.parts.approvals.sweep();
  const officer = await house.signedIn(olga.userId, { roles: ["security-officer"] });
  t.match(await officer("GET", `/api/approvals/${String(asked.body["id"])}`), {
    body: { state: "expired" },
  });
  t.match(await officer("GET", "/api/people"), { status: 200 });
});

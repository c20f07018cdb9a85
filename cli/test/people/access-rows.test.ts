import type { AccessReply } from "@resontech/contracts/http-access";
import t from "tap";
import { ACCESS_HEAD, accessRows } from "../../src/people/access-rows.ts";

const AT = "2026-11-26T10:00:00.000Z";
const ACCESS: AccessReply = {
  at: AT,
  people: [
    {
      ...{ id: "u_1", username: "ada", roles: [], isDisabled: false, hasLeft: false },
      projects: [{ id: "p_1", name: "screening", role: "project-lead", by: "lead" }],
      keys: [
        {
          ...{ id: "k_1", last4: "wxyz", projectId: "p_1", project: "screening" },
          ...{ scopes: ["storage", "jobs:read"], createdAt: AT, expiresAt: AT, lastUsedAt: null },
        },
      ],
      ...{ lastSignInAt: AT, hasSecondFactor: null, marks: ["key_unused"] },
    },
  ],
  programs: [
    {
      ...{
        id: "u_2",
        name: "nightly",
        projectId: "p_1",
        project: "screening",
        scopes: ["storage"],
      },
      ...{ answeredBy: "ada", isOrphan: false, expiresAt: AT, lastUsedAt: null },
    },
  ],
};

t.test("a row says all that a person may, and another one each program", async (t) => {
  const [ada, nightly] = accessRows(ACCESS);
  t.same(ada, [
    ...["ada", "-", "screening: project-lead", "…wxyz: storage+jobs:read", "2026-11-26"],
    "key_unused",
  ]);
  t.match(nightly, ["nightly", "program", "screening: storage"]);
  t.equal(ada?.length, ACCESS_HEAD.length);
  t.equal(nightly?.length, ACCESS_HEAD.length);
});

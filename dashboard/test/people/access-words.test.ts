import {
  ACCESS_MARKS,
  type AccessOfPerson,
  type AccessReply,
} from "@resontech/contracts/http-access";
import t from "tap";
import {
  accessCsv,
  markWords,
  secondFactorWords,
  standingWords,
} from "../../src/pages/people/access-words.ts";

const AT = "2026-11-26T10:00:00.000Z";
const person = (given: Partial<AccessOfPerson>): AccessOfPerson => ({
  ...{ id: "u_1", username: "ada", roles: [], projects: [], keys: [], marks: [] },
  ...{ lastSignInAt: null, hasSecondFactor: null, isDisabled: false, hasLeft: false },
  ...given,
});
const csvOf = (people: AccessOfPerson[], programs: AccessReply["programs"] = []) =>
  accessCsv({ at: AT, people, programs }).trimEnd().split("\r\n");

t.test("a review has a line for each right, and one for who has none", async (t) => {
  const [head, ...lines] = csvOf(
    [
      person({
        roles: ["security-officer"],
        projects: [{ id: "p_1", name: "screening", role: "viewer", by: "group" }],
        keys: [
          {
            ...{ id: "k_1", last4: "wxyz", projectId: "p_1", project: "screening" },
            ...{ scopes: ["storage"], createdAt: AT, expiresAt: AT, lastUsedAt: null },
          },
        ],
        marks: ["key_unused"],
      }),
      person({ id: "u_2", username: "=bob" }),
    ],
    [
      {
        ...{ id: "u_3", name: "nightly", projectId: "p_1", project: "screening" },
        ...{ scopes: ["storage"], answeredBy: "ada", isOrphan: true, expiresAt: AT },
        lastUsedAt: null,
      },
    ],
  );
  const columns = head!.split(",").length;
  t.equal(lines.length, 4);
  for (const line of lines) t.equal(line.split(",").length, columns, line);
  t.match(lines[0], /^"ada","u_1","active","security-officer","screening","viewer","group"/);
  t.match(lines[1], /"…wxyz","storage"/);
  t.match(lines[2], /^"'=bob"/, "no spreadsheet runs a name");
  t.match(lines[3], /"nightly".*"nobody answers for it"$/);
});

t.test("what a reviewer sees is in words", async (t) => {
  for (const mark of ACCESS_MARKS) t.match(markWords(mark), /^[a-z][a-z0-9 ,]+$/);
  t.equal(standingWords({ isDisabled: true, hasLeft: true }), "left");
  t.equal(standingWords({ isDisabled: true, hasLeft: false }), "disabled");
  t.equal(secondFactorWords({ hasSecondFactor: null }), "not known");
});

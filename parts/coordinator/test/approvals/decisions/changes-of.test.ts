import t from "tap";
import { changesOf, type FactsNow } from "../../../src/approvals/decisions/changes-of.ts";

const NOW: FactsNow = {
  ...{ name: "ada", held: [], quotaBytes: null, share: null },
  policies: new Map([
    ["jobs.cedar", "one\ntwo\nthree"],
    ["keys.cedar", "same"],
    ["nodes.cedar", "goes"],
  ]),
};

t.test("a role is told by all roles of the person, before and after", async (t) => {
  const role = { kind: "role", userId: "u_1", role: "data-steward", change: "grant" } as const;
  t.same(changesOf(role, NOW), [{ what: "roles of ada", before: null, after: "data-steward" }]);
  const held = ["platform-admin", "data-steward"] as const;
  t.same(changesOf({ ...role, change: "revoke" }, { ...NOW, held }), [
    { what: "roles of ada", before: "data-steward, platform-admin", after: "platform-admin" },
  ]);
});

t.test("a quota is told in the unit that it is asked for in", async (t) => {
  const quota = { kind: "quota", projectId: "p_1", bytes: 750e9 } as const;
  t.same(changesOf(quota, { ...NOW, name: "screening", quotaBytes: 500e9 }), [
    { what: "room of screening", before: "500 GB", after: "750 GB" },
  ]);
});

t.test("of policies the files that differ are told, each with the lines that do", async (t) => {
  const files = { "jobs.cedar": "one\n2\nthree", "keys.cedar": "same", "new.cedar": "new" };
  t.same(changesOf({ kind: "policy", files }, NOW), [
    { what: "policies jobs.cedar", before: "two", after: "2" },
    { what: "policies new.cedar", before: null, after: "new" },
    { what: "policies nodes.cedar", before: "goes", after: null },
  ]);
});

t.test("an added line is told alone", async (t) => {
  const policies = new Map([["a.cedar", "one\ntwo"]]);
  const files = { "a.cedar": "one\nmore\ntwo" };
  t.same(changesOf({ kind: "policy", files }, { ...NOW, policies }), [
    { what: "policies a.cedar", before: "", after: "more" },
  ]);
});

t.test("a hold comes and goes, and values of each person are opened", async (t) => {
  const hold = { subject: "u_1", hold: "h-1" };
  t.match(changesOf({ kind: "hold", ...hold }, NOW), [{ before: null, after: /u_1/ }]);
  t.match(changesOf({ kind: "lift", ...hold }, NOW), [{ before: /u_1/, after: null }]);
  const disclosure = {
    kind: "disclosure",
    shard: "2026",
    subjects: ["u_1", "u_2"],
    receiver: "court",
  } as const;
  t.equal(changesOf({ ...disclosure, subjects: [...disclosure.subjects] }, NOW).length, 2);
});

t.test("of a share only what differs is told", async (t) => {
  const share = {
    guarantee: { h100: 4, cpu: 2 },
    limit: {},
    weight: 1,
    personRunning: null,
    personQueued: null,
    interactiveIdleMinutes: null,
  };
  const now = { ...NOW, name: "lung", share };
  const what = { kind: "share", share: "p_1", guarantee: { cpu: 2 }, weight: 1 } as const;
  t.same(changesOf(what, now), [
    { what: "guarantee of lung", before: "2 cpu, 4 h100", after: "2 cpu" },
  ]);
  t.same(changesOf({ kind: "share", share: "p_1", guarantee: {}, limit: { cpu: 0 } }, now), [
    { what: "guarantee of lung", before: "2 cpu, 4 h100", after: null },
    { what: "limit of lung", before: null, after: "0 cpu" },
  ]);
  t.same(changesOf(what, NOW), [], "a share that is gone changes nothing");
});

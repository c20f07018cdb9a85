import t from "tap";
import { draftedChange, differencesOf, shareDraftOf } from "../../src/pages/queue/share-draft.ts";

const SHARE = {
  ...{ guarantee: { cpu: 2, h100: 1 }, limit: { cpu: 8 }, weight: 1 },
  ...{ personRunning: 4, personQueued: null, interactiveIdleMinutes: 90 },
};

t.test("what is written as it was changes nothing", async (t) => {
  t.same(draftedChange(SHARE, shareDraftOf(SHARE)), {});
  t.same(differencesOf(SHARE, {}), []);
});

t.test("an empty field takes away, and a limit of zero stays one", async (t) => {
  const draft = shareDraftOf(SHARE);
  const change = draftedChange(SHARE, {
    guarantee: { ...draft.guarantee, h100: "", l4: "0" },
    limit: { cpu: "0", h100: "" },
    ...{ weight: "2.5", personRunning: "", personQueued: "20", interactiveIdleMinutes: "90" },
  });
  t.same(change, {
    guarantee: { cpu: 2 },
    limit: { cpu: 0 },
    weight: 2.5,
    personRunning: null,
    personQueued: 20,
  });
  t.same(differencesOf(SHARE, change), [
    { what: "Guarantee", before: "2 cpu, 1 h100", after: "2 cpu" },
    { what: "Limit", before: "8 cpu", after: "0 cpu" },
    { what: "Weight", before: "1", after: "2.5" },
    { what: "Workers a person", before: "4", after: "any number" },
    { what: "Waiting jobs a person", before: "any number", after: "20" },
  ]);
  t.match(differencesOf(SHARE, { limit: {} }), [{ before: "8 cpu", after: "none" }]);
});

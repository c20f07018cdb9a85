import t from "tap";
import { NODE_STATES, whyNoWork } from "../../src/agent/node-states.ts";

const well = { state: "READY", drained: null, freeBytes: 20 * 1024 ** 3 } as const;

t.test("only a ready node that nobody keeps out, with room, is said to take work", async (t) => {
  t.equal(whyNoWork(well), null);
  t.equal(whyNoWork({ ...well, freeBytes: null }), null, "one that has told nothing yet");
  for (const state of NODE_STATES)
    t.equal(whyNoWork({ ...well, state }) === null, state === "READY", state);
});

t.test("each reason is told", async (t) => {
  t.equal(
    whyNoWork({ state: "SUSPECT", drained: "drained by the operator", freeBytes: 1 }),
    "it is silent; drained by the operator; its disk is full",
  );
});

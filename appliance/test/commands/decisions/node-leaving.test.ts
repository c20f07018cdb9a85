import t from "tap";
import { type NodeLeaving, whatNext } from "../../../src/commands/decisions/node-leaving.ts";

const idle: NodeLeaving = { state: "READY", silentS: 2, members: [] };
const busy: NodeLeaving = {
  ...idle,
  members: [
    { job: "j1", state: "RUNNING" },
    { job: "j1", state: "RUNNING" },
    { job: "j2", state: "RELEASING" },
  ],
};

t.test("a node that runs nothing leaves, and so does one that never registered", async (t) => {
  t.same(whatNext(idle, false), { do: "remove" });
  t.same(whatNext({ state: "JOINED", silentS: null, members: [] }, false), { do: "remove" });
});

t.test("a node that runs something is waited for, and it is said what for", async (t) => {
  t.same(whatNext(busy, false), { do: "wait", why: "3 members of 2 jobs run there" });
  t.same(whatNext(busy, true), whatNext(busy, false), "force waits for one that answers");
});

t.test("a silent node leaves only by force, and only once it is dead", async (t) => {
  for (const silent of [
    { ...busy, state: "SUSPECT", silentS: 20 },
    { ...idle, state: "DEAD", silentS: 400 },
    { ...idle, state: "DEAD", silentS: null },
  ])
    t.match(whatNext(silent, false), { do: "refuse", todo: /--force/ }, silent.state);
  t.match(whatNext({ ...busy, state: "SUSPECT", silentS: 20 }, true), { do: "wait" });
  t.same(whatNext({ ...busy, state: "DEAD", silentS: 60 }, true), { do: "remove" });
});

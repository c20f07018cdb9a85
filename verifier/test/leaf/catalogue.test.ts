import { readFileSync } from "node:fs";
import { EVENT_CATALOGUE, EVENT_TYPES } from "@resontech/contracts/audit-catalogue";
import t from "tap";
import { CATALOGUE_FILE, catalogueText } from "../../build/verifier-catalogue.ts";
import { composeEvent } from "@resontech/audit/producer";
import { readLeaf } from "../../src/leaf/read-leaf.ts";
import { jobSubmit } from "@resontech/audit/testing/event-drafts";

t.test("the verifier carries the same catalogue, and reads an entry of every type", async (t) => {
  t.ok(
    readFileSync(CATALOGUE_FILE, "utf8") === catalogueText(),
    "else: node verifier/build/verifier-catalogue.ts",
  );
  const sent = JSON.parse(
    composeEvent({ ...jobSubmit(), phase: "requested" }, { boot: "b", pseq: 1 }).event,
  );
  for (const type of EVENT_TYPES) {
    const { phases, object: kind } = EVENT_CATALOGUE[type];
    const { detail: _detail, ...event } = {
      ...sent,
      type,
      phase: phases[0],
      object: { id: "x", kind },
      prod: "p",
      t_log: sent.t,
    };
    const leaf = Object.entries(event).sort(([a], [b]) => (a < b ? -1 : 1));
    t.match(
      readLeaf(Buffer.from(JSON.stringify(Object.fromEntries(leaf)))),
      { leaf: { type }, isForeign: false },
      type,
    );
  }
});

import t from "tap";
import { awaitsFact, endingOf, isSaidAgain } from "../src/decisions/ended.ts";

type Said = Parameters<typeof endingOf>[1];
const said = (...phases: string[]) => phases.map((phase) => ({ phase })) as Said;

t.test("an act that the log has ended becomes what the log has of it", async (t) => {
  for (const [kind, state, log, ending] of [
    ["erasure", "asked", said("requested", "completed", "fact"), "destroy"],
    ["erasure", "requested", said("completed"), "destroy"],
    ["erasure", "requested", said("failed"), "failed"],
    ["erasure", "requested", said("denied"), "failed"],
    ["erasure", "requested", said(), "failed"],
    ["erasure", "destroying", said("failed"), "destroy"],
    ["erasure", "destroyed", said(), "destroy"],
    ["erasure", "completed", said("completed"), "confirm"],
    ["erasure", "completed", said("completed", "fact"), "done"],
    ["erasure", "completed", said("failed"), "done"],
    ["retention", "requested", said("completed"), "destroy"],
    ["retention", "completed", said("completed"), "done"],
    ["hold", "asked", said("completed"), "done"],
    ["hold", "asked", said("denied"), "failed"],
    ["disclose", "requested", said("completed"), "done"],
    ["disclose", "requested", said(), "failed"],
  ] as const)
    t.equal(
      endingOf({ kind, state }, log),
      ending,
      `${kind} ${state}: ${log.map(({ phase }) => phase).join(", ")}`,
    );
  t.equal(awaitsFact({ kind: "erasure" }, said("completed")), true);
  t.equal(awaitsFact({ kind: "erasure" }, said("failed")), false);
  t.equal(awaitsFact({ kind: "retention" }, said("completed")), false);
});

t.test("in a new life nothing is said that the log has, or would refuse", async (t) => {
  for (const [phase, log, isOpen, isAgain] of [
    ["requested", said(), false, true],
    ["requested", said("requested"), true, false],
    ["requested", said(), true, false],
    ["requested", said("completed"), false, false],
    ["failed", said("requested"), true, true],
    ["failed", said("completed"), false, false],
    ["completed", said(), false, false],
    ["fact", said(), false, true],
    ["fact", said("completed", "fact"), false, false],
  ] as const)
    t.equal(
      isSaidAgain(phase, log, isOpen),
      isAgain,
      `${phase} ${log.map((one) => one.phase).join(", ")} ${isOpen}`,
    );
});

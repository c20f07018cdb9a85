/** A part of its own: it adds, and says when it is disposed of. */
import { Type } from "typebox";
import { answering, defineOperation } from "../../../src/operations/operation.ts";
import { definePart } from "../../../src/part/define-part.ts";
import { runPart } from "../../../src/program/run-part.ts";

export const add = defineOperation({
  ...{ name: "add", codes: [] },
  ...{ request: Type.Object({ one: Type.Integer() }), reply: Type.Object({ sum: Type.Integer() }) },
});
export const adder = definePart({
  ...{ name: "adder", user: 99, program: "adder.mjs", after: [], certificates: [], settings: [] },
  config: {
    schema: Type.Object({ other: Type.Integer(), isMute: Type.Optional(Type.Boolean()) }),
    from: () => ({ other: 1 }),
  },
  sockets: { control: { for: "root", serves: [add] } },
  ...{
    health: { socket: "control" },
    data: { isBackedUp: false },
    firstBytes: 1_000,
    stop: { graceMs: 5_000 },
  },
  inShortage: "middle",
});

if (import.meta.main)
  runPart(adder, async ({ config: { own }, log }) => ({
    answers: {
      control:
        own.isMute === true ? [] : [answering(add, async ({ one }) => ({ sum: one + own.other }))],
    },
    [Symbol.asyncDispose]: async () => log.info("disposed of"),
  }));

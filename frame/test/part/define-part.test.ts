import t from "tap";
import { Type } from "typebox";
import {
  defineHostPart,
  definePart,
  factsFrom,
  type PartDeclaration,
  userOf,
} from "../../src/part/define-part.ts";
import { defineOperation } from "../../src/operations/operation.ts";

const look = defineOperation({
  ...{ name: "look", codes: [] },
  ...{ request: Type.Object({}), reply: Type.Object({ firing: Type.Integer() }) },
});
const toy: PartDeclaration = {
  ...{ name: "toy", user: 99, program: "toy.mjs", after: [], certificates: [], settings: [] },
  config: { schema: Type.Object({}), from: () => ({}) },
  sockets: { control: { for: "root", serves: [look] } },
  ...{
    health: { socket: "control" },
    data: { isBackedUp: false },
    firstBytes: 1_000,
    stop: { graceMs: 1_000 },
  },
  inShortage: "middle",
};

t.test("a declaration that contradicts itself is none", async (t) => {
  t.equal(definePart(toy), toy);
  t.throws(() => definePart({ ...toy, health: { socket: "other" } }), /no socket named other/);
  const facts = factsFrom("control", look, {}, () => ({}));
  t.ok(definePart({ ...toy, facts }));
  t.throws(() => definePart({ ...toy, facts: { ...facts, socket: "x" } }), /no socket named x/);
  const sockets = { control: { for: "root", serves: [] } } as const;
  t.throws(() => definePart({ ...toy, facts, sockets }), /does not serve look/);
});

t.test(
  "a program that needs the host is root's, and is held to its sockets as all are",
  async (t) => {
    const host = defineHostPart({
      ...{ name: "toy", user: "root", hosts: ["node"], after: [], certificates: [], settings: [] },
      ...{ data: null, firstBytes: 0, stop: { graceMs: 1_000 }, inShortage: "last" },
      command: () => ({ program: "/bin/true", args: [] }),
      sockets: { life: { for: "root", speaks: "nothing" } },
      health: { endsConnections: ["life"], file: () => "/there" },
    });
    t.equal(userOf({ uidBase: 64_100 }, host), 0);
    t.equal(userOf({ uidBase: 64_100 }, toy), 64_199);
    t.throws(
      () => defineHostPart({ ...host, health: { socket: "other", path: "/" } }),
      /no socket named other/,
    );
  },
);

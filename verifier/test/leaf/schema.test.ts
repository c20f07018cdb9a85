import t from "tap";
import { checkOf, objectCheck, type Schema } from "../../src/leaf/schema.ts";

const faultOf = (schema: Schema, value: unknown): string | null =>
  checkOf(schema)(value)?.("detail") ?? null;

const SCHEMA: Schema = {
  type: "object",
  required: ["a", "b"],
  properties: {
    a: { type: "string", pattern: "^[a-z]+$", maxLength: 3 },
    b: {
      type: "array",
      items: { type: "object", properties: { c: { type: "boolean" } } },
      minItems: 1,
      maxItems: 2,
    },
    d: { anyOf: [{ type: "null" }, { type: "integer", minimum: 1, maximum: 3 }] },
    e: { enum: ["x", "y"] },
    f: { const: 1 },
  },
};

t.test("names the first place where a value does not keep its schema", async (t) => {
  const whole = { a: "abc", b: [{ c: true }], d: 3, e: "y", f: 1 };
  t.equal(faultOf(SCHEMA, whole), null);
  for (const [changes, fault] of [
    [{ a: "abcd" }, "a wrong detail.a"],
    [{ a: "ABC" }, "a wrong detail.a"],
    [{ a: null }, "a wrong detail.a"],
    [{ b: [] }, "a wrong detail.b"],
    [{ b: [{}, {}, {}] }, "a wrong detail.b"],
    [{ b: [{}, []] }, "a wrong detail.b[]"],
    [{ b: [{}, { c: 1 }] }, "a wrong detail.b[].c"],
    [{ b: [{ z: 1 }] }, "an unknown member detail.b[].z"],
    [{ d: 4 }, "a wrong detail.d"],
    [{ d: 1.5 }, "a wrong detail.d"],
    [{ e: "z" }, "a wrong detail.e"],
    [{ f: "1" }, "a wrong detail.f"],
    [{ ["n".repeat(100)]: 1 }, `an unknown member detail.${"n".repeat(64)}`],
    [JSON.parse('{"__proto__":1}'), "an unknown member detail.__proto__"],
    [{ constructor: 1 }, "an unknown member detail.constructor"],
  ] as const)
    t.equal(
      faultOf(
        SCHEMA,
        Object.defineProperties({ ...whole }, Object.getOwnPropertyDescriptors(changes)),
      ),
      fault,
    );
  t.equal(faultOf(SCHEMA, { a: "abc" }), "no detail.b");
  for (const value of [null, [], "a", 1]) t.equal(faultOf(SCHEMA, value), "a wrong detail");
  t.equal(faultOf({}, 1), "a detail that no schema knows");
  t.equal(faultOf({ type: "array" }, []), "a wrong detail");
});

t.test("what was taken once in a place is taken there again, and nothing else", async (t) => {
  const check = checkOf({ type: "string", pattern: "^[a-z]+$" });
  for (const [value, isTaken] of [
    [null, false],
    ["a", true],
    ["a", true],
    ["A", false],
    ["a", true],
    [null, false],
    [["a"], false],
  ] as const)
    t.equal(check(value) === null, isTaken, JSON.stringify(value));
});

t.test("passes over only the members that are checked elsewhere", async (t) => {
  const check = objectCheck(
    { type: "object", properties: { a: { type: "null" } }, required: ["a"] },
    ["type"],
  );
  t.equal(check({ a: null, type: 5 }), null);
  t.equal(check({ a: null, typed: 5 })?.("entry"), "an unknown member entry.typed");
  t.equal(check({ type: 5 })?.("entry"), "no entry.a");
});

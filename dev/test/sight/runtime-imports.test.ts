import t from "tap";
import { runtimeImports } from "../../tests/sight/runtime-imports.ts";

const loaded = (text: string): readonly string[] => runtimeImports(text).specifiers;

t.test("every form of a module that is loaded is read, over several lines too", async (t) => {
  const text = `import a, { b } from "./a.ts";
import {
  c,
  d,
} from "./c.ts";
import "./e.css";
export { f } from "@resontech/frame/f";
export * as g from "./g.ts";
const h = await import("./h.ts");
const i = import.meta.resolve("./i.ts");
const j = require("j");`;
  t.same(loaded(text), [
    ...["./a.ts", "./c.ts", "./e.css", "@resontech/frame/f", "./g.ts", "./h.ts", "./i.ts", "j"],
  ]);
});

t.test("types are gone when a module runs, and so is what is commented out", async (t) => {
  const text = `import type { A } from "./a.ts";
import type {
  B,
  C,
} from "./b.ts";
import type D from "./d.ts";
import type * as E from "./e.ts";
export type { F } from "./f.ts";
export type * from "./g.ts";
// import { h } from "./h.ts";
/** import { i } from "./i.ts" */
import { type J } from "./j.ts";
type K = string;
import { k } from "./k.ts";`;
  t.same(
    loaded(text),
    ["./j.ts", "./k.ts"],
    "one that names types alone in braces is still loaded",
  );
});

t.test("a module whose name running code makes is told", async (t) => {
  t.equal(runtimeImports("await import(join(here, file));").hasUnnamed, true);
  t.equal(runtimeImports("await import(`./${name}.ts`);").hasUnnamed, true);
  t.equal(runtimeImports("spawn(node, [`await import(${path})`]);").hasUnnamed, false);
  t.equal(runtimeImports(`await import("./a.ts");`).hasUnnamed, false);
  t.equal(runtimeImports("import a from './a.ts'; import.meta.dirname;").hasUnnamed, false);
});

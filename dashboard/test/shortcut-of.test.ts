import t from "tap";
import { GO, shortcutOf } from "../src/app/shortcut-of.ts";

const press = (key: string, more: { withControl?: boolean; inField?: boolean } = {}) => ({
  ...{ key, withControl: false, inField: false },
  ...more,
});

t.test("Ctrl+K asks where to, also in a field and with single keys off", async (t) => {
  for (const inField of [false, true])
    t.same(shortcutOf(press("k", { withControl: true, inField }), false, false), {
      kind: "palette",
    });
});

t.test("single keys lead nowhere in a field, and where they are switched off", async (t) => {
  for (const key of ["g", "/", "?"]) {
    t.not(shortcutOf(press(key), false, true), null);
    t.equal(shortcutOf(press(key, { inField: true }), false, true), null);
    t.equal(shortcutOf(press(key), false, false), null);
  }
});

t.test("the key after g names a page, and any other key forgets the g", async (t) => {
  for (const [key, [path]] of Object.entries(GO))
    t.same(shortcutOf(press(key), true, true), { kind: "go", path });
  t.equal(shortcutOf(press("x"), true, true), null);
  t.equal(shortcutOf(press("j"), false, true), null);
});

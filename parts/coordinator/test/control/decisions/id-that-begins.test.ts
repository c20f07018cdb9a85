import t from "tap";
import { idThatBegins } from "../../../src/control/decisions/id-that-begins.ts";

const KEYS = { what: "key", list: "appliance key ls" };
const ids = ["k_4f21aa", "k_4f21ab", "k_9c00aa", "k_9c00aabb"];

t.test("an id is named by itself, or by a beginning that no other has", async (t) => {
  for (const start of ["k_4f21aa", "k_9c00aab"])
    t.equal(idThatBegins(ids, start, KEYS), start === "k_4f21aa" ? start : "k_9c00aabb");
  t.equal(
    idThatBegins(ids, "k_9c00aa", KEYS),
    "k_9c00aa",
    "also where another one goes on behind it",
  );
});

t.test("a beginning of several is refused, and each of them is named", async (t) => {
  t.throws(() => idThatBegins(ids, "k_4f21", KEYS), {
    code: "id_ambiguous",
    message: /k_4f21aa, k_4f21ab$/,
  });
  const many = Array.from({ length: 14 }, (_, at) => `k_4f21${String(at).padStart(2, "0")}`);
  t.throws(() => idThatBegins(many, "k_4f21", KEYS), {
    code: "id_ambiguous",
    message: /k_4f2109 and 4 more$/,
  });
});

t.test("none that begins so is told with the command that shows them", async (t) => {
  for (const start of ["k_77", "4f21aa", "K_4F21", "k_4f21aaa"])
    t.throws(
      () => idThatBegins(ids, start, KEYS),
      { code: "not_found", message: /`appliance key ls`/ },
      start,
    );
});

t.test("a mere kind names nothing, were there but one of it", async (t) => {
  for (const start of ["k", "k_", "k_9c0"])
    t.throws(
      () => idThatBegins(["k_9c00aa"], start, KEYS),
      { code: "id_ambiguous", message: /4 characters behind k_/ },
      start,
    );
  t.equal(idThatBegins(["k_9c00aa"], "k_9c00", KEYS), "k_9c00aa");
});

import { randomBytes } from "node:crypto";
import t from "tap";
import { base64, fromBase64, latin1 } from "../../src/input/bytes.ts";

t.test("base64 is read in its one form alone", async (t) => {
  for (let length = 0; length < 200; length++) {
    const bytes = randomBytes(length);
    const text = bytes.toString("base64");
    t.equal(base64(bytes), text);
    if (!bytes.equals(fromBase64(text)!)) t.fail(text);
  }
  const characters = "ABQgw/+9=-";
  for (let number = 0; number < characters.length ** 4; number++) {
    const text = [1_000, 100, 10, 1]
      .map((place) => characters[Math.floor(number / place) % 10])
      .join("");
    const isCanonical = Buffer.from(text, "base64").toString("base64") === text;
    if ((fromBase64(text) !== null) !== isCanonical) t.fail(text);
  }
  for (const wrong of ["A", "AA", "AAA", "=", "==", "====", "AA=A", "AAAA\n", " AAAA", "AAAAA==="])
    t.equal(fromBase64(wrong), null, wrong);
});

t.test("a long string of bytes becomes its characters", async (t) => {
  const bytes = randomBytes(70_000);
  t.equal(latin1(bytes), bytes.toString("latin1"));
});

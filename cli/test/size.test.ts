import t from "tap";
import { size, toldWithUnits } from "../src/size.ts";

t.test("bytes are told in the unit that people read", async (t) => {
  for (const [bytes, words] of [
    [0, "0 bytes"],
    [1, "1 byte"],
    [1_023, "1023 bytes"],
    [1_024, "1.0 KiB"],
    [1_048_575, "1.0 MiB"],
    [241_172_480, "230.0 MiB"],
    [6 * 1024 ** 4, "6.0 TiB"],
  ] as const)
    t.equal(size(bytes), words);
});

t.test("a limit in a message has the same units", async (t) => {
  t.equal(
    toldWithUnits("a process was killed at the limit of 2147483648 bytes"),
    "a process was killed at the limit of 2.0 GiB",
  );
  t.equal(toldWithUnits("round 3 of 10"), "round 3 of 10");
});

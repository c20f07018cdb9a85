import t from "tap";
import { size } from "../src/size.ts";

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

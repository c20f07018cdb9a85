import { createHash, randomBytes } from "node:crypto";
import fc from "fast-check";
import t from "tap";
import { sha256 } from "../../src/platform/sha256.ts";

const own = (bytes: Uint8Array): string => Buffer.from(sha256(bytes)).toString("hex");
const nodes = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

t.test("agrees with FIPS 180-4's own examples", async (t) => {
  t.equal(
    own(Buffer.from("abc")),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  t.equal(own(Buffer.alloc(0)), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  t.equal(
    own(Buffer.alloc(1_000_000, "a")),
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
  );
});

t.test(
  "agrees with the runtime's at every length around a block, and on views into larger buffers",
  async (t) => {
    const bytes = randomBytes(1_024);
    for (let length = 0; length <= 260; length++)
      t.equal(
        own(bytes.subarray(3, 3 + length)),
        nodes(bytes.subarray(3, 3 + length)),
        `${length} bytes`,
      );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 4_096 }), (any) => own(any) === nodes(any)));
  },
);

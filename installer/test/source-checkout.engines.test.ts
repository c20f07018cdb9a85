/** `install.sh` lies at the root of the source as it does in a bundle; there it has nothing to install. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import t from "tap";

t.test("run from the source it says what to do, and changes nothing", async (t) => {
  const repository = join(import.meta.dirname, "../..");
  const { status, stdout, stderr } = spawnSync("sh", [join(repository, "install.sh"), "--yes"], {
    encoding: "utf8",
  });
  t.equal(status, 2);
  t.equal(stdout, "");
  t.match(
    stderr,
    /no bundle lies beside it\n  what to do: build one with `npm run airgap -- build --out DIR`/,
  );
});

/** What is read only in part, as by `head`, ends without a word. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import t from "tap";
import { shippedProgram } from "@resontech/house/shipped-program";

for (const [program, words] of [
  ["resontech", ["--help"]],
  ["resontech", ["completion", "bash"]],
  ["appliance", ["--help"]],
  ["installer", ["--help"]],
] as const)
  t.test(`${program} ${words.join(" ")} | head`, async (t) => {
    const child = spawn(process.execPath, [shippedProgram(program), ...words], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    // The reader is gone before the first byte.
    child.stdout.destroy();
    const said = text(child.stderr);
    const [status] = (await once(child, "close")) as [number | null];
    t.equal(await said, "");
    t.equal(status, 0);
  });

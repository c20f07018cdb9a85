/** A process that follows a database: `node follow-process.ts FILE TARGET RECIPIENT [MAX_AWAY_MS]`, the signing key in its environment; it says how far it is. */
import { followDatabase } from "../../src/follow/follow-database.ts";
import { recipientBytes, signerOf } from "../../src/recovery-key.ts";
import { requireClaimed } from "../../src/take/claim-target.ts";
import { openTarget } from "../../src/targets/open-target.ts";

const [file = "", target = "", recipient = "", maxAwayMs = "30000"] = process.argv.slice(2);
const signingKeyPem = process.env["SIGNING_KEY"] ?? "";
const ended = new AbortController();
process.once("SIGTERM", () => ended.abort());
await followDatabase(
  {
    ...{ file, recipient: recipientBytes(recipient), release: "0.9.0" },
    signingKeyPem,
    openTarget: async () => {
      const opened = await openTarget(target);
      await requireClaimed(opened, "box.acme", signerOf(signingKeyPem));
      return opened;
    },
    onState: ({ upToMs, failure }) => process.stdout.write(`${upToMs ?? 0} ${failure ?? "-"}\n`),
    onError: ({ message }) => process.stderr.write(`${message}\n`),
    ...{ nextStreamMs: 200, maxAwayMs: Number(maxAwayMs) },
  },
  ended.signal,
);

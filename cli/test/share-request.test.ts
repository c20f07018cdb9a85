/** `resontech approvals request share`: what is sent, and what is no change. */
import type { Requested } from "@resontech/contracts/http-approvals";
import { Command } from "commander";
import t from "tap";
import { addShareRequest } from "../src/share-request.ts";

async function run(...words: string[]) {
  const asked: { what: Requested; reason: string | undefined }[] = [];
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  addShareRequest(program, async (what, reason) => void asked.push({ what, reason }));
  for (const command of program.commands)
    command.exitOverride().configureOutput({ writeErr: () => {} });
  await program.parseAsync(["share", ...words], { from: "user" });
  return asked;
}

t.test("a guarantee, a limit and a weight are asked for, and what is left out stays", async (t) => {
  t.same(await run("p_4f21", "--guarantee", "h100=2,cpu=1", "--reason", "agreed"), [
    {
      what: { kind: "share", share: "p_4f21", guarantee: { h100: 2, cpu: 1 } },
      reason: "agreed",
    },
  ]);
  t.same(await run("p_4f21", "--guarantee", "none", "--limit", "cpu=8", "--weight", "0.5"), [
    {
      what: { kind: "share", share: "p_4f21", guarantee: {}, limit: { cpu: 8 }, weight: 0.5 },
      reason: undefined,
    },
  ]);
});

t.test("nothing is asked for where nothing changes, or what is written is no number", async (t) => {
  await t.rejects(run("p_4f21"), { code: "usage", message: "nothing is to be changed" });
  await t.rejects(run("p_4f21", "--guarantee", "h100"), /as `h100=4,cpu=2`/);
  for (const weight of ["0", "-1", "much"])
    await t.rejects(run("p_4f21", `--weight=${weight}`), /a number above 0/);
});

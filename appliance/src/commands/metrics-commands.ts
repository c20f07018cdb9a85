/** `appliance metrics token`: by what the customer's own Prometheus reads `GET /metrics`. */
import type { Command } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { connectOperator, operated } from "../audit/operator-record.ts";
import { readCustomersToken, rotateCustomersToken } from "./metrics-token.ts";
import type { PartContext } from "../parts/context.ts";
import type { OperatorShell } from "./ask-operator.ts";

export function addMetricsCommands(
  program: Command,
  { openContext, print, say }: OperatorShell,
): void {
  const metrics = program
    .command("metrics")
    .description("figures of the appliance for a Prometheus of yours");

  leaves(metrics.command("token"), { none: "root can read the file as well" })
    .description("show the token by which your Prometheus reads /metrics")
    .option("--json", "one JSON line", false)
    .addHelpText("after", "\nExample:\n  appliance metrics token > /root/metrics.token")
    .action(({ json }: { json: boolean }) => {
      const token = readCustomersToken(openContext().layout);
      if (json) print({ token });
      else say(token);
    });

  leaves(metrics.command("rotate-token"), { event: "admin.monitoring" })
    .description("make another token and show it; the one before is void at once")
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const token = await rotated(openContext());
      if (json) print({ token });
      else say(token);
    });
}

async function rotated(context: PartContext): Promise<string> {
  await using producer = await connectOperator(context.layout);
  const operation = {
    type: "admin.monitoring",
    action: "appliance metrics rotate-token",
    object: { kind: "appliance", id: "appliance" },
    detail: { change: "token-rotated" },
  } as const;
  return await operated(producer, [operation], async () => ({
    result: rotateCustomersToken(context),
  }));
}

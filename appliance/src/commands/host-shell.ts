import type { HostShell } from "@resontech/frame/host-shell";
import { leaves } from "../audit/command-audit.ts";
import { connectOperator, operated } from "../audit/operator-record.ts";
import type { OperatorShell } from "./ask-operator.ts";
import { readSecret } from "./read-secret.ts";

/** What commands get that a part brings. */
export function hostShell({ openContext, print, table, say }: OperatorShell): HostShell {
  return {
    facts: () => {
      const { layout, config } = openContext();
      return { layout, appliance: config };
    },
    ...{ print, table, say, leaves, readSecret },
    recorded: async (operation, effect) => {
      await using producer = await connectOperator(openContext().layout);
      await operated(producer, [operation], async () => ({ result: await effect() }));
    },
  };
}

/** Commands of `appliance` that a part brings. Apart from `index.ts`: what a process runs holds no code of commands. */
import type { AddHostCommands } from "@resontech/frame/host-shell";
import { addOutboundCommands } from "@resontech/inference-gateway/outbound-commands";
import { addAlertCommands } from "@resontech/notifier/alert-commands";

export const HOST_COMMANDS: readonly AddHostCommands[] = [addAlertCommands, addOutboundCommands];

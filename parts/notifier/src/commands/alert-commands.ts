/** `appliance alerts add smtp|webhook|syslog | ls | test | rm`: where alerts go. Secrets come from files or are typed. */
import { readFileSync } from "node:fs";
import { X509Certificate } from "node:crypto";
import { AlertTarget } from "../alert-targets.ts";
import type { TargetState } from "../operations.ts";
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import { collected } from "@resontech/frame/collected";
import type { PartPlace } from "@resontech/frame/define-part";
import type { HostShell } from "@resontech/frame/host-shell";
import { networks } from "@resontech/frame/networks";
import { type Command, InvalidArgumentError } from "commander";
import { Value } from "typebox/value";
import {
  caFileName,
  forgetAlertTarget,
  readAlertTargets,
  writeAlertTarget,
  type TargetsPlace,
} from "../alert-targets-file.ts";
import { ALERT_TARGETS_FILE, notifier } from "../../part.ts";
import { readTargetStates, tryTarget } from "./ask-notifier.ts";

type Shared = { caFile?: string; perimeter: string[] };
type Change = EventDetail<"admin.monitoring">["change"];

export function addAlertCommands(program: Command, shell: HostShell): void {
  const alerts = program
    .command("alerts")
    .description("where alerts go, by mail, webhook or syslog");
  addTargets(alerts, shell);
  const { facts, leaves, print, table, say } = shell;

  leaves(alerts.command("ls"), { none: "reads settings, and nothing of people" })
    .description("the targets, and whether each took the last message")
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const targets = readAlertTargets(placeOf(facts()).file);
      const states = await readTargetStates(facts().layout);
      const stateOf = (name: string) => states?.find((state) => state.name === name) ?? null;
      if (json)
        return print({
          targets: targets.map((target) => ({ ...target, state: stateOf(target.name) })),
        });
      table(
        ["NAME", "KIND", "WHERE", "LAST MESSAGE", "WAITING"],
        targets.map((target) => [
          ...[target.name, target.kind, whereOf(target)],
          ...stateCells(states === null ? "unknown" : stateOf(target.name)),
        ]),
        "nobody is told of alerts: appliance alerts add --help",
      );
    });

  leaves(alerts.command("test <name>"), { event: "admin.monitoring" })
    .description("send a message that says that it is a try")
    .action(async (name: string) => {
      const target = targetNamed(facts(), name);
      await recorded(shell, "target-tried", target, () => tryTarget(facts().layout, name));
      say(`${name} took a message`);
    });

  leaves(alerts.command("rm <name>"), { event: "admin.monitoring" })
    .description("take a target and its secret away")
    .action(async (name: string) => {
      const target = targetNamed(facts(), name);
      await recorded(shell, "target-removed", target, async () => {
        forgetAlertTarget(placeOf(facts()), name);
      });
      say(`${name} is told of nothing any more`);
    });
}

function addTargets(alerts: Command, shell: HostShell): void {
  const { facts, leaves, readSecret, say } = shell;
  const add = alerts
    .command("add")
    .description("set a target, or put it in the place of the one of its name");
  const shared = (command: Command): Command =>
    leaves(command, { event: "admin.monitoring" })
      .option(
        "--ca-file <file>",
        "certificate of who vouches for the server; without it the appliance's root does",
      )
      .option(
        "--perimeter <cidr>",
        "a network of yours that is no private one; again for each",
        collected,
        [],
      );
  const set = async (wanted: unknown, { caFile }: Shared, secret: string | null): Promise<void> => {
    const target = checkedTarget(wanted);
    const caPem = caFile === undefined ? null : certificateOf(caFile);
    await recorded(shell, "target-set", target, async () => {
      writeAlertTarget(placeOf(facts()), target, { secret, caPem });
    });
    say(`${target.name} is set; try it: appliance alerts test ${target.name}`);
  };

  shared(add.command("smtp <name>"))
    .description("mail; ends of jobs go by the first target of this kind, too")
    .requiredOption("--host <host>", "the mail server's name")
    .option("--port <n>", "its port", "587")
    .option("--security <tls|starttls|plain>", "how the connection is kept secret", "starttls")
    .requiredOption("--from <address>", "whom mails come from")
    .requiredOption("--to <address>", "who hears of alerts; again for each", collected, [])
    .option("--username <name>", "with it a password is sent, never without TLS")
    .option("--password-file <file>", "the password; asked for where it is not given")
    .addHelpText(
      "after",
      "\nExample:\n  appliance alerts add smtp mail --host mail.example.org --from appliance@example.org --to ops@example.org",
    )
    .action(async (name: string, options: SmtpOptions) => {
      const { host, port, security, from, to, username, passwordFile } = options;
      if (username !== undefined && security === "plain")
        throw new InvalidArgumentError("--username: a password is not sent without TLS");
      const secret =
        username === undefined
          ? null
          : await readSecret(passwordFile ?? null, `password of ${username}`, "--password-file");
      const login = username === undefined ? {} : { username };
      const target = { kind: "smtp", name, host, port: Number(port), security, from, to, ...login };
      await set({ ...target, ...sharedOf(name, options) }, options, secret);
    });

  shared(add.command("webhook <name>"))
    .description("a signed POST to a program of yours")
    .requiredOption("--url <url>", "https alone")
    .option("--secret-file <file>", "the key of the signature; asked for where it is not given")
    .addHelpText(
      "after",
      "\nExample:\n  appliance alerts add webhook oncall --url https://hooks.example.org/alerts --secret-file /root/hook.key",
    )
    .action(async (name: string, options: Shared & { url: string; secretFile?: string }) => {
      const secret = await readSecret(
        options.secretFile ?? null,
        "key of the signature",
        "--secret-file",
      );
      await set(
        { kind: "webhook", name, url: options.url, ...sharedOf(name, options) },
        options,
        secret,
      );
    });

  shared(add.command("syslog <name>"))
    .description("RFC 5424 messages, framed by octets")
    .requiredOption("--host <host>", "the receiver's name")
    .option("--port <n>", "its port", "6514")
    .option("--transport <tls|tcp>", "tcp is readable by everybody on the way", "tls")
    .addHelpText("after", "\nExample:\n  appliance alerts add syslog siem --host siem.example.org")
    .action(
      async (name: string, options: Shared & { host: string; port: string; transport: string }) => {
        const { host, port, transport } = options;
        const target = { kind: "syslog", name, host, port: Number(port), transport };
        await set({ ...target, ...sharedOf(name, options) }, options, null);
      },
    );
}

type SmtpOptions = Shared & {
  host: string;
  port: string;
  security: string;
  from: string;
  to: string[];
  username?: string;
  passwordFile?: string;
};

function sharedOf(name: string, { caFile, perimeter }: Shared): object {
  return {
    ...(caFile === undefined ? {} : { caFile: caFileName(name) }),
    ...(perimeter.length === 0 ? {} : { perimeter }),
  };
}

/** @throws InvalidArgumentError that names the option */
function checkedTarget(value: unknown): AlertTarget {
  if (Value.Check(AlertTarget, value)) {
    try {
      networks(value.perimeter ?? []);
    } catch (error) {
      throw new InvalidArgumentError(
        `--perimeter: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    return value;
  }
  const { kind } = value as { kind: AlertTarget["kind"] };
  const schema =
    AlertTarget.anyOf.find(({ properties }) => properties.kind.const === kind) ?? AlertTarget;
  const [fault] = Value.Errors(schema, value);
  throw new InvalidArgumentError(
    `${fault?.instancePath.slice(1).replaceAll("/", " ")}: ${fault?.message}`,
  );
}

function certificateOf(file: string): string {
  try {
    return new X509Certificate(readFileSync(file)).toString();
  } catch {
    throw new InvalidArgumentError(`--ca-file: ${file} holds no certificate`);
  }
}

function placeOf({ layout, appliance }: PartPlace): TargetsPlace {
  return {
    file: layout.setting(ALERT_TARGETS_FILE),
    secretsDir: layout.secrets(notifier.name),
    gid: appliance.uidBase + notifier.user,
  };
}

function targetNamed(facts: PartPlace, name: string): AlertTarget {
  const targets = readAlertTargets(placeOf(facts).file);
  const target = targets.find((one) => one.name === name);
  if (target === undefined)
    throw new InvalidArgumentError(
      `no target is named ${JSON.stringify(name)}; there are: ${targets.map((one) => one.name).join(", ")}`,
    );
  return target;
}

function whereOf(target: AlertTarget): string {
  if (target.kind === "webhook") return target.url;
  const at = `${target.host}:${target.port}`;
  return target.kind === "smtp" ? `${target.to.join(", ")} by ${at}` : at;
}

function stateCells(state: TargetState | "unknown" | null): string[] {
  if (state === "unknown") return ["the notifier does not answer", "-"];
  if (state === null) return ["none yet", "0"];
  const { failure, deliveredAt, waiting } = state;
  if (failure !== null) return [`failed (${failure.code}): ${failure.message}`, String(waiting)];
  return [deliveredAt === null ? "none yet" : new Date(deliveredAt).toISOString(), String(waiting)];
}

async function recorded(
  shell: HostShell,
  change: Change,
  { kind, name }: AlertTarget,
  effect: () => Promise<void>,
): Promise<void> {
  await shell.recorded(
    {
      type: "admin.monitoring",
      action: "appliance alerts",
      object: { kind: "appliance", id: "appliance" },
      detail: { change, kind, name },
    },
    effect,
  );
}

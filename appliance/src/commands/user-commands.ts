/** `appliance user …`: who has a bucket and keys here. */
import type { UserFacts } from "@resontech/contracts/operator-control";
import { type Command, InvalidArgumentError } from "commander";
import { leaves } from "../audit/command-audit.ts";
import type { OperatorShell } from "./ask-operator.ts";
import { formatInstant, formatSize, parseSize } from "./decisions/quantities.ts";
import { KEY_HEAD, keyRows } from "./key-commands.ts";

const HEAD = ["USER", "STATE", "BUCKET", "QUOTA", "KEYS", "JOBS", "SINCE"];

export function addUserCommands(program: Command, { ask, print, table, say }: OperatorShell): void {
  const user = program
    .command("user")
    .description(
      "users: list, show, password, reset-second-factor, quota, disable, enable; `add-user` makes one",
    )
    .addHelpText(
      "after",
      "\nExamples:\n  appliance user ls\n  appliance user quota alice 500GB\n  appliance user disable alice",
    );

  leaves(user.command("ls"), { event: "admin.control", loggedBy: "coordinator" })
    .description(
      "every user with bucket, quota, living keys and jobs; that a person looked is on record",
    )
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const { users } = await ask({ verb: "user-list" });
      if (json) print(users);
      else table(HEAD, users.map(row), "no user: make one with `appliance add-user NAME`");
    });

  leaves(user.command("show <name>"), { event: "admin.control", loggedBy: "coordinator" })
    .description("one user and the user's keys")
    .option("--json", "one JSON line", false)
    .action(async (username: string, { json }: { json: boolean }) => {
      const { user: shown, keys } = await ask({ verb: "user-show", username });
      if (json) return print({ user: shown, keys });
      table(HEAD, [row(shown)], "");
      say("");
      table(KEY_HEAD, keyRows(keys), "no key");
    });

  leaves(user.command("password <name>"), { event: "iam.user.change", loggedBy: "coordinator" })
    .description(
      "a password for the user's next sign-in, which asks for a new one; it is shown once",
    )
    .option("--json", "one JSON line", false)
    .action(async (username: string, { json }: { json: boolean }) => {
      const given = await ask({ verb: "user-password", username });
      if (json) print(given);
      else say(`first password of ${username}: ${given.password}`);
    });

  leaves(user.command("reset-second-factor <name>"), {
    event: "iam.user.change",
    loggedBy: "coordinator",
  })
    .description(
      "void the user's passkeys and code generators; a new one is set up at the next sign-in",
    )
    .action(async (username: string) => {
      await ask({ verb: "user-second-factor", username });
      say(`${username} sets up a new second factor at the next sign-in`);
    });

  leaves(user.command("quota <name> <size>"), { event: "iam.user.change", loggedBy: "coordinator" })
    .description(
      "what the user's bucket may hold, like 500GB or 1.5TiB; nothing that is stored is removed",
    )
    .option("--json", "one JSON line", false)
    .action(async (username: string, size: string, { json }: { json: boolean }) => {
      const bytes = parseSize(size);
      if (bytes === null)
        throw new InvalidArgumentError(
          `size ${JSON.stringify(size)}: a number and B, KB, MB, GB, TB or KiB … TiB`,
        );
      const changed = await ask({ verb: "user-quota", username, bytes });
      if (json) print(changed);
      else say(`the bucket of ${username} may hold ${formatSize(changed.bytes)}`);
    });

  leaves(user.command("disable <name>"), { event: "iam.user.change", loggedBy: "coordinator" })
    .description(
      "refuse the user's platform keys and take the bucket's key pair away; jobs that run go on",
    )
    .option("--json", "one JSON line", false)
    .action(async (username: string, { json }: { json: boolean }) => {
      const disabled = await ask({ verb: "user-disable", username });
      if (json) return print(disabled);
      say(`${username} is disabled`);
      if (disabled.livingJobs > 0)
        say(
          `${disabled.livingJobs} jobs of ${username} go on: appliance job ls, appliance job cancel`,
        );
    });

  leaves(user.command("enable <name>"), { event: "iam.user.change", loggedBy: "coordinator" })
    .description(
      "let the user's keys be good again; the bucket gets a new key pair, whose secret is shown once",
    )
    .action(async (username: string) => print(await ask({ verb: "user-enable", username })));
}

function row({
  username,
  isAdmin,
  isDisabled,
  bucket,
  quotaBytes,
  livingKeys,
  livingJobs,
  createdAt,
}: UserFacts): string[] {
  // Who has a duty alone has no bucket.
  const state = isDisabled ? "disabled" : isAdmin ? "admin" : "user";
  return [
    username,
    state,
    bucket ?? "-",
    quotaBytes === null ? "-" : formatSize(quotaBytes),
    String(livingKeys),
    String(livingJobs),
    formatInstant(createdAt),
  ];
}

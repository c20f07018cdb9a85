/** `appliance user …`: who has a bucket and keys here. */
import type { TraceFacts, UserFacts } from "@resontech/contracts/operator-users";
import type { VaultStatus } from "@resontech/contracts/vault-control";
import { type Command, InvalidArgumentError } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { type OperatorShell, printedAnswer } from "./ask-operator.ts";
import { askVault, VaultRefusedError } from "../operator/ask-vault.ts";
import { formatInstant, formatSize, parseSize } from "../status/decisions/quantities.ts";
import { KEY_HEAD, keyRows } from "./key-commands.ts";

const TRACE_HEAD = ["WHAT", "ROWS", "WHEN FORGOTTEN"];
const HEAD = ["USER", "STATE", "BUCKET", "QUOTA", "KEYS", "JOBS", "SINCE"];

export function addUserCommands(
  program: Command,
  { openContext, ask, print, table, say }: OperatorShell,
): void {
  /** A hold protects what is known of a person: whoever forgets somebody has looked. @throws VaultRefusedError legal_hold */
  const requireNoHold = async (): Promise<void> => {
    const { holds, holdsInDoubt } = await askVault<VaultStatus>(
      openContext().layout.run("vault", "sock"),
      { verb: "status" },
    );
    if (holds === 0 && !holdsInDoubt) return;
    const standing = holdsInDoubt
      ? "the vault's legal holds are in doubt"
      : `${holds} legal holds stand`;
    throw new VaultRefusedError({
      code: "legal_hold",
      message: `${standing}: look with \`resontech audit search --type privacy.hold\`, and say --despite-holds where none is this person's`,
    });
  };
  const user = program
    .command("user")
    .description(
      "users: list, show, password, reset-second-factor, quota, disable, traces, forget, enable; `add-user` makes one",
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
      const { users } = await ask("user-list");
      if (json) print(users);
      else table(HEAD, users.map(row), "no user: make one with `appliance add-user NAME`");
    });

  leaves(user.command("show <name>"), { event: "admin.control", loggedBy: "coordinator" })
    .description("one user and the user's keys")
    .option("--json", "one JSON line", false)
    .action(async (username: string, { json }: { json: boolean }) => {
      const { user: shown, keys } = await ask("user-show", { username });
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
      const given = await ask("user-password", { username });
      if (json) print(printedAnswer("user-password", given));
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
      await ask("user-second-factor", { username });
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
      const changed = await ask("user-quota", { username, bytes });
      if (json) print(printedAnswer("user-quota", changed));
      else say(`the bucket of ${username} may hold ${formatSize(changed.bytes)}`);
    });

  leaves(user.command("disable <name>"), { event: "iam.user.change", loggedBy: "coordinator" })
    .description(
      "refuse the user's platform keys and take the bucket's key pair away; jobs that run go on",
    )
    .option("--json", "one JSON line", false)
    .action(async (username: string, { json }: { json: boolean }) => {
      const disabled = await ask("user-disable", { username });
      if (json) return print(printedAnswer("user-disable", disabled));
      say(`${username} is disabled`);
      if (disabled.livingJobs > 0)
        say(
          `${disabled.livingJobs} jobs of ${username} go on: appliance job ls, appliance job cancel`,
        );
    });

  leaves(user.command("traces <name>"), { event: "admin.control", loggedBy: "coordinator" })
    .description("what is known of a user by name, and what of it stays once the user is forgotten")
    .option("--json", "one JSON line", false)
    .action(async (username: string, { json }: { json: boolean }) => {
      const traces = await ask("user-traces", { username });
      if (json) return print(printedAnswer("user-traces", traces));
      say(`pseudonym in the log: ${traces.userId}`);
      say(`account at Keycloak: ${traces.hasAccount ? "yes" : "none"}`);
      say(
        `directory: ${traces.directory ?? "none"}${traces.directory === null ? "" : ", which keeps the person"}`,
      );
      say(
        traces.bucket === null
          ? "own bucket: none"
          : `own bucket: ${traces.bucket.name}, ${traces.bucket.objects} objects, ${formatSize(traces.bucket.usedBytes)}`,
      );
      say("");
      table(TRACE_HEAD, traces.rows.map(traceRow), "no row");
    });

  leaves(user.command("forget <name>"), { event: "iam.user.change", loggedBy: "coordinator" })
    .description(
      "take away the account and the name of a disabled user; the pseudonym stays in the log. Nothing brings the name back",
    )
    .option("--with-bucket", "the own bucket too, with all that lies in it", false)
    .option("--despite-holds", "you looked: none of the legal holds is this person's", false)
    .option("--json", "one JSON line", false)
    .addHelpText(
      "after",
      "\nExamples:\n  appliance user traces anna\n  appliance user disable anna\n  appliance user forget anna --with-bucket",
    )
    .action(
      async (
        username: string,
        {
          withBucket,
          despiteHolds,
          json,
        }: { withBucket: boolean; despiteHolds: boolean; json: boolean },
      ) => {
        if (!despiteHolds) await requireNoHold();
        const gone = await ask("user-forget", { username, withBucket });
        if (json) return print(printedAnswer("user-forget", gone));
        say(`${username} is forgotten; lists show ${gone.username}`);
        if (gone.bucket !== null)
          say(
            `the bucket ${gone.bucket} still has the name: appliance user forget ${gone.username} --with-bucket`,
          );
        if (gone.directory !== null)
          say(`the directory ${gone.directory} keeps the person: take the account away there`);
        if (gone.rows.length > 0) {
          say("");
          table(TRACE_HEAD, gone.rows.map(traceRow), "");
        }
      },
    );

  leaves(user.command("enable <name>"), { event: "iam.user.change", loggedBy: "coordinator" })
    .description(
      "let the user's keys be good again; the bucket gets a new key pair, whose secret is shown once",
    )
    .action(async (username: string) =>
      print(printedAnswer("user-enable", await ask("user-enable", { username }))),
    );
}

function traceRow({ part, count, stays }: TraceFacts): string[] {
  return [part, String(count), stays === null ? "goes" : `stays. ${stays}`];
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

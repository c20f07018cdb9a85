/** `appliance privacy …`: what the vault does at people's word. It says all of it in the log itself. */
import type { EraseReply, VaultStatus } from "@resontech/contracts/vault-control";
import type { Command } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { approved, ProofError, proofOf, type ProofOptions } from "./approval-commands.ts";
import type { OperatorShell } from "./ask-operator.ts";
import { askVault } from "../operator/ask-vault.ts";
import { restoreVaultKeys } from "./restore-vault-keys.ts";
import { collected } from "@resontech/frame/collected";
import { two } from "./two-people.ts";

export function addPrivacyCommands(
  program: Command,
  { openContext, ask, print }: OperatorShell,
): void {
  const socket = (): string => openContext().layout.run("vault", "sock");
  const privacy = program
    .command("privacy")
    .description(
      "personal values behind the audit log: how long they are kept, who may have them erased, what stands in the way",
    )
    .addHelpText(
      "after",
      "\nA person is named by the pseudonym that the log has; find it with: resontech audit search --holds pii.username=NAME\n\nExamples:\n  appliance privacy erase u_4f… --request req-17 --legal-basis gdpr-17 --approval a_7c30…\n  appliance privacy hold u_4f… --hold case-3 --approval a_91b2…",
    );

  leaves(privacy.command("status"), { none: "status" })
    .description(
      "how much is sealed and erased, which holds stand, when the copies of the keys end",
    )
    .action(async () => print(await askVault<VaultStatus>(socket(), { verb: "status" })));

  approved(
    leaves(privacy.command("erase <subject>"), { event: "privacy.erasure", loggedBy: "vault" }),
  )
    .description(
      "destroy what opens a person's values, in every copy; by the signatures of two people, which the vault checks. Account and name stand: appliance user traces",
    )
    .requiredOption("--request <id>", "name of the person's request in your own files")
    .requiredOption("--legal-basis <code>", "such as gdpr-17")
    .action(
      async (subject: string, options: ProofOptions & { request: string; legalBasis: string }) => {
        const { request, legalBasis } = options;
        const approval = await proofOf(ask, options);
        print(
          await askVault<EraseReply>(socket(), {
            ...{ verb: "erase", subject, request, legalBasis, approval },
          }),
        );
      },
    );

  const held = { event: "privacy.hold", loggedBy: "vault" } as const;
  approved(leaves(privacy.command("hold <subject>"), held))
    .description(
      "set a legal hold: while it stands nothing of the person is erased, by request or by age; by a security officer's signature, which the vault checks",
    )
    .requiredOption("--hold <id>", "the hold's name in your own files")
    .option(
      "--unproven <name>",
      "where nobody can sign: who asks, on record as a name that nothing proves",
    )
    .action(
      async (
        subject: string,
        { hold, unproven, ...options }: ProofOptions & { hold: string; unproven?: string },
      ) => {
        if (unproven === undefined) {
          const approval = await proofOf(ask, options);
          print(await askVault(socket(), { verb: "hold", subject, hold, approval }));
        } else if (options.approval === undefined && options.proof === undefined)
          print(
            await askVault(socket(), {
              ...{ verb: "hold-unproven", subject, hold, requester: unproven },
            }),
          );
        else
          throw new ProofError(
            "proof_invalid",
            "a hold is set by a signature or by an unproven name, not by both",
            "Leave --unproven out.",
          );
      },
    );
  approved(leaves(privacy.command("lift <subject>"), held))
    .description("lift a legal hold; by the signatures of two people, which the vault checks")
    .requiredOption("--hold <id>", "the hold's name in your own files")
    .action(async (subject: string, { hold, ...options }: ProofOptions & { hold: string }) => {
      const approval = await proofOf(ask, options);
      print(await askVault(socket(), { verb: "lift", subject, hold, approval }));
    });

  leaves(privacy.command("confirm-holds"), { event: "privacy.holds.confirm", loggedBy: "vault" })
    .description(
      "after the vault's database was put back: its legal holds are those of the log; two people must agree, and both are named, unproven",
    )
    .requiredOption("--requester <id>", "who asks")
    .option("--approver <id>", "one of the two who agree, given twice", collected, [])
    .action(async ({ requester, approver }: { requester: string; approver: string[] }) => {
      print(
        await askVault(socket(), {
          verb: "confirm-holds",
          requester,
          approvers: two(privacy, approver),
        }),
      );
    });

  leaves(privacy.command("refuse <subject>"), { event: "privacy.refusal", loggedBy: "vault" })
    .description("put on record that an erasure was refused for a reason in law, until a date")
    .requiredOption("--request <id>", "name of the person's request in your own files")
    .requiredOption("--legal-basis <code>", "such as gdpr-17-3-b")
    .requiredOption("--until <instant>", "UTC: 2033-01-31T00:00:00.000Z")
    .requiredOption("--requester <id>", "who refuses")
    .action(
      async (
        subject: string,
        options: { request: string; legalBasis: string; until: string; requester: string },
      ) => print(await askVault(socket(), { verb: "refuse", subject, ...options })),
    );

  leaves(privacy.command("restore-keys <copy>"), { event: "privacy.keys.restore" })
    .description(
      "put the vault's keys back from a copy whose epoch lives; stop the vault first: appliance stop vault",
    )
    .action(async (copy: string) => print(await restoreVaultKeys(openContext(), copy)));
}

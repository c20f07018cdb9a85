import { readFileSync } from "node:fs";
import type { CoordinatorConfig } from "@resontech/contracts/coordinator-config";
import type { Logger } from "pino";
import type { SignInParts } from "../http/routes/sign-in.ts";
import { ApprovalEffects, type ApprovalEffectsDeps } from "../approvals/approval-effects.ts";
import { ApprovalChanges } from "../approvals/approval-changes.ts";
import { Approvals } from "../approvals/approvals.ts";
import { RoleChanges } from "../approvals/role-changes.ts";
import type { BucketKeys } from "../identity/bucket-keys.ts";
import { ChangedPolicies } from "../policy-trial/changed-policies.ts";
import type { Feed } from "../feed/feed.ts";
import { AccountLinks } from "../identity/accounts/account-links.ts";
import { CoordinatorAdmin } from "../identity/accounts/coordinator-admin.ts";
import { KeycloakAccounts } from "../identity/accounts/keycloak-accounts.ts";
import { ServiceClients } from "../identity/accounts/service-clients.ts";
import { Leavers } from "../identity/leavers.ts";
import { EventCollector } from "../identity/keycloak-events/event-collector.ts";
import { requestRoleOnRecord } from "../identity/directories/request-role.ts";
import { PersonSessions } from "../identity/sign-in/person-sessions.ts";
import { OpenIdProvider } from "../identity/sign-in/open-id-provider.ts";
import { ServiceAccounts } from "../identity/service-accounts/service-accounts.ts";
import { Seal } from "../identity/seal.ts";
import { Sessions, type SessionsDeps } from "../identity/sign-in/sessions.ts";
import { SignIn } from "../identity/sign-in/sign-in.ts";
import { JobMailer } from "../job-mails/job-mailer.ts";
import type { QueueViews } from "../kernel/queue-views.ts";
import { readText } from "../read-config.ts";
import type { ShareChanges } from "../shares/share-changes.ts";

const REALM = "resontech";
const SWEEP_MS = 30_000;

/** How people sign in here; null where there is no Keycloak. */
export async function openIdentity(
  config: CoordinatorConfig,
  deps: Pick<SessionsDeps, "read" | "commit" | "gate" | "record" | "now"> &
    Pick<ApprovalEffectsDeps, "kernel"> & { shares: ShareChanges } & {
      feed: Pick<Feed, "publish">;
    } & {
      bucketKeys: Pick<BucketKeys, "review">;
      queue: Pick<QueueViews, "startOf">;
    },
  logger: Logger,
): Promise<
  | (SignInParts & {
      links: AccountLinks;
      approvals: Approvals;
      roleChanges: RoleChanges;
    } & AsyncDisposable)
  | null
> {
  if (config.identity === undefined) return null;
  const { port, caFile, dashboardKeyFile, coordinatorKeyFile, sessionKeyFile, idleS } =
    config.identity;
  const client = {
    ...{ certFile: config.identity.clientCertFile, keyFile: config.identity.clientKeyFile },
  };
  const address = { port, origin: config.publicUrl, caPem: readText(caFile), client };
  const provider = await OpenIdProvider.open({
    ...{ address, realm: REALM, clientKeyPem: readText(dashboardKeyFile) },
  });
  const seal = new Seal(Buffer.from(readFileSync(sessionKeyFile, "utf8").trim(), "base64url"));
  const admin = new CoordinatorAdmin({
    ...{ address, realm: REALM, clientKeyPem: readText(coordinatorKeyFile) },
  });
  const accounts = new KeycloakAccounts(admin);
  const clients = new ServiceClients(admin);
  const serviceAccounts = new ServiceAccounts({ ...deps, clients, seal });
  const requestRole = requestRoleOnRecord(deps.record, deps.now);
  const sessions = new Sessions({
    ...{ ...deps, provider, seal, accounts, requestRole },
    onError: (err, what) => logger.warn({ err }, what),
    idleMs: idleS === undefined ? undefined : idleS * 1_000,
  });
  const personSessions = new PersonSessions({ ...deps, sessions, accounts });
  const quotaBytes = config.s3.bucketQuotaBytes;
  const changes = new ApprovalChanges(deps);
  const signIn = new SignIn({
    ...{ ...deps, provider, sessions, seal, accounts, quotaBytes },
    onSigned: (approval) => changes.note(approval),
  });
  const links = new AccountLinks({
    ...{ ...deps, accounts },
    onError: (err) => logger.warn({ err }, "a user has no account at Keycloak yet"),
  });
  void links.linkAll();
  const roleChanges = new RoleChanges({
    ...{ ...deps, links, sessions },
    onError: (err, what) => logger.warn({ err }, what),
  });
  const effects = new ApprovalEffects({
    ...{ ...deps, links, sessions, roleChanges },
    policies: ChangedPolicies.besideDatabase(config.databaseFile),
  });
  const approvals = new Approvals({ ...deps, effects, changes });
  const sweep = setInterval(() => {
    Promise.all([sessions.sweep(), approvals.sweep(), serviceAccounts.sweep()]).catch(
      (err: unknown) => logger.warn({ err }, "what is over was not swept"),
    );
  }, SWEEP_MS);
  const watched = { ...deps, accounts, sessions, requestRole };
  const leavers = new Leavers(watched, (err) =>
    logger.warn({ err }, "accounts at Keycloak could not be looked at"),
  );
  const collector = new EventCollector(
    { ...deps, events: (...asked) => accounts.events(...asked) },
    (err) => logger.warn({ err }, "Keycloak's events wait"),
  );
  const { mailSocket, publicUrl } = config;
  const mailer =
    mailSocket === undefined
      ? null
      : new JobMailer({
          ...{ ...deps, accounts, mailSocket, publicUrl },
          expectedStart: (job) => deps.queue.startOf(job),
          onError: (err) => logger.warn({ err }, "a mail about a job waits"),
        });
  return {
    ...{
      provider,
      sessions,
      signIn,
      links,
      approvals,
      roleChanges,
      serviceAccounts,
      personSessions,
      accounts,
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(sweep);
      links[Symbol.dispose]();
      await Promise.all([
        leavers[Symbol.asyncDispose](),
        collector[Symbol.asyncDispose](),
        mailer?.[Symbol.asyncDispose](),
      ]);
    },
  };
}

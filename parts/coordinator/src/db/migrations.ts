import type { Migration } from "@resontech/frame/migrate";
import { identity } from "./migrations/0001-identity.ts";
import { kernel } from "./migrations/0002-kernel.ts";
import { jobNetwork } from "./migrations/0003-job-network.ts";
import { recovery } from "./migrations/0004-recovery.ts";
import { uploadIndexes } from "./migrations/0005-upload-indexes.ts";
import { jobFaults } from "./migrations/0006-job-faults.ts";
import { userAccess } from "./migrations/0007-user-access.ts";
import { bucketRights } from "./migrations/0008-bucket-rights.ts";
import { workloads } from "./migrations/0009-workloads.ts";
import { agentProtocol } from "./migrations/0010-agent-protocol.ts";
import { memberImages } from "./migrations/0011-member-images.ts";
import { people } from "./migrations/0012-people.ts";
import { approvals } from "./migrations/0014-approvals.ts";
import { projects } from "./migrations/0016-projects.ts";
import { serviceAccounts } from "./migrations/0017-service-accounts.ts";
import { decisionsSeen } from "./migrations/0013-decisions-seen.ts";
import { directories } from "./migrations/0015-directories.ts";
import { jobMails } from "./migrations/0020-job-mails.ts";
import { signaturesAndExports } from "./migrations/0018-signatures-and-exports.ts";
import { curves } from "./migrations/0019-curves.ts";
import { replicas } from "./migrations/0021-replicas.ts";
import { callUsage } from "./migrations/0022-call-usage.ts";
import { models } from "./migrations/0023-models.ts";
import { standings } from "./migrations/0024-standings.ts";
import { rollouts } from "./migrations/0025-rollouts.ts";
import { ownImages } from "./migrations/0026-own-images.ts";
import { nodeUpgrades } from "./migrations/0027-node-upgrades.ts";
import { nodeRenewals } from "./migrations/0028-node-renewals.ts";
import { toldMembers } from "./migrations/0029-told-members.ts";
import { onePerson } from "./migrations/0030-one-person.ts";
import { answerable } from "./migrations/0031-answerable.ts";
import { laterApprovals } from "./migrations/0032-later-approvals.ts";
import { lastModels } from "./migrations/0033-last-models.ts";
import { logMerges } from "./migrations/0034-log-merges.ts";
import { exitCodes } from "./migrations/0035-exit-codes.ts";
import { stoppedBy } from "./migrations/0036-stopped-by.ts";
import { shares } from "./migrations/0037-shares.ts";
import { orderOfJobs } from "./migrations/0038-order-of-jobs.ts";
import { pools } from "./migrations/0039-pools.ts";
import { membersOfSeveralWorkers } from "./migrations/0040-members-of-several-workers.ts";
import { classes } from "./migrations/0041-classes.ts";
import { nodeOutages } from "./migrations/0042-node-outages.ts";
import { poolRules } from "./migrations/0043-pool-rules.ts";
import { inputCache } from "./migrations/0044-input-cache.ts";
import { arrays } from "./migrations/0045-arrays.ts";

/** In order, numbered from 1 without gaps. */
export const MIGRATIONS: readonly Migration[] = [
  ...[identity, kernel, jobNetwork, recovery, uploadIndexes, jobFaults],
  ...[userAccess, bucketRights, workloads, agentProtocol, memberImages, people],
  ...[decisionsSeen, approvals, directories, projects, serviceAccounts, signaturesAndExports],
  curves,
  jobMails,
  replicas,
  callUsage,
  models,
  standings,
  rollouts,
  ownImages,
  nodeUpgrades,
  nodeRenewals,
  toldMembers,
  onePerson,
  answerable,
  laterApprovals,
  lastModels,
  logMerges,
  exitCodes,
  stoppedBy,
  shares,
  orderOfJobs,
  pools,
  membersOfSeveralWorkers,
  classes,
  nodeOutages,
  poolRules,
  inputCache,
  arrays,
];

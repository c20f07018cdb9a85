/** Who there is to be told apart: roles of people, processes of the appliance, and what a node has shown of itself. */

/** Roles that a person holds on the whole appliance, and those that are held in a project: IDENTITY "Roles". */
export const APPLIANCE_ROLES = [
  "platform-admin",
  "security-officer",
  "compliance-auditor",
  "data-steward",
  "break-glass",
] as const;
export const PROJECT_ROLES = ["project-lead", "researcher", "viewer", "service-account"] as const;
export type ApplianceRole = (typeof APPLIANCE_ROLES)[number];
export type ProjectRole = (typeof PROJECT_ROLES)[number];
export type Role = ApplianceRole | ProjectRole;

/** Processes of the appliance; `coordinator` is this one, acting by itself. `prometheus`: whoever shows a token for metrics, also the customer's own. */
export const SERVICES = ["coordinator", "s3-front", "prometheus"] as const;
export type Service = (typeof SERVICES)[number];

/** What a node has shown of itself: its certificate on the bus, one that has ended, a one-use token to join, or a password to pull one image. */
export const NODE_PROOFS = [
  "certificate",
  "ended-certificate",
  "join-token",
  "pull-password",
] as const;
export type NodeProof = (typeof NODE_PROOFS)[number];

/**
 * The operator's API: HTTP on a Unix socket that root alone can open, for the `appliance` command of the same release. Users, first keys and join tokens are
 * made here, and never over the network.
 */
import type { Static } from "typebox";
import { APPLIANCE_ROUTES } from "./operator-appliance.ts";
import { IMAGE_ROUTES } from "./operator-images.ts";
import { JOB_ROUTES } from "./operator-jobs.ts";
import { KEY_ROUTES } from "./operator-keys.ts";
import { NODE_ROUTES } from "./operator-nodes.ts";
import { POOL_ROUTES } from "./operator-pools.ts";
import { PROJECT_ROUTES } from "./operator-projects.ts";
import type { RouteFields } from "./operator-route.ts";
import { SCHEDULER_ROUTES } from "./operator-scheduler.ts";
import { SHARE_ROUTES } from "./operator-shares.ts";
import { USER_ROUTES } from "./operator-users.ts";

export const OPERATOR_ROUTES = {
  ...APPLIANCE_ROUTES,
  ...USER_ROUTES,
  ...KEY_ROUTES,
  ...PROJECT_ROUTES,
  ...SHARE_ROUTES,
  ...POOL_ROUTES,
  ...JOB_ROUTES,
  ...SCHEDULER_ROUTES,
  ...NODE_ROUTES,
  ...IMAGE_ROUTES,
} as const;

/** As the operator's commands and the audit log name it. */
export type OperatorVerb = keyof typeof OPERATOR_ROUTES;
export type OperatorAsked<V extends OperatorVerb> = RouteFields<(typeof OPERATOR_ROUTES)[V]>;
export type OperatorAnswer<V extends OperatorVerb> = Static<(typeof OPERATOR_ROUTES)[V]["answer"]>;

/** Asks the coordinator something as the host's root. A verb without fields is asked without any. */
export type AskOperator = <V extends OperatorVerb>(
  verb: V,
  ...asked: keyof OperatorAsked<V> extends never ? [] : [asked: OperatorAsked<V>]
) => Promise<OperatorAnswer<V>>;

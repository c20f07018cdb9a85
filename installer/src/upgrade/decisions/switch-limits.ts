/** How long each half of a switch may take, so that the leases of running jobs outlive an upgrade and its return. */

/** `appliance stop` waits so long for the last part. */
const STOP_LIMIT_S = 180;
/** `appliance start` waits so long, unless told otherwise. */
const START_LIMIT_S = 300;
/** A new release must be healthy by then. Its parts have their data already, so no first boot of Keycloak is among it. */
export const UPGRADE_START_LIMIT_S = 200;

/** From the first stop to the earlier release's health. */
export const MAX_SWITCH_S = STOP_LIMIT_S + UPGRADE_START_LIMIT_S + STOP_LIMIT_S + START_LIMIT_S;

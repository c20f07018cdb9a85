/** Which cookies one side of the door never sees of the other: a browser sends to a host name whatever any of its servers has set. */

/** Of the coordinator's session, and of each sign-in that is under way. */
const SESSION = "__Host-rt(-in-[A-Za-z0-9_-]+)?";
/** Every name that Keycloak 26 gives (`org.keycloak.cookie.CookieType`), and the older ones that it still reads. */
const KEYCLOAK = [
  "AUTH_SESSION_ID(_LEGACY)?",
  "KEYCLOAK_(IDENTITY|SESSION)(_LEGACY)?",
  "KEYCLOAK_(LOCALE|REMEMBER_ME)",
  "KC_(RESTART|STATE_CHECKER|AUTH_SESSION_HASH)",
  "WELCOME_STATE_CHECKER",
].join("|");

/** Renders lines that take cookies of these names away. Of requests with two `Cookie` headers only the last is looked at: such must have been refused before. */
function without(names: string): readonly string[] {
  // Each cookie goes with the separator before it; then goes the one that is left where the first cookie stood.
  const each = `(^|;)[[:blank:]]*(${names})[[:blank:]]*(=[^;]*)?(?=;|$)`;
  return [
    `http-request set-var(txn.cookie) 'req.fhdr(cookie),regsub("${each}","",g),regsub("^[;[:blank:]]+","")'`,
    "http-request set-header cookie %[var(txn.cookie)] if { req.fhdr(cookie) -m found }",
    "http-request del-header cookie if { var(txn.cookie) -m len 0 }",
  ];
}

/** Lines of a HAProxy backend. */
export const WITHOUT_SESSION = without(SESSION);
export const WITHOUT_KEYCLOAK = without(KEYCLOAK);

/**
 * What of Keycloak 26 a person's sign-in needs, and nothing else of it: neither consoles nor admin API, no other realm, no registration of
 * clients or people, no health, no metrics. Each pattern is of the whole path as it was sent: none lets an escape, an empty part or a dot part in.
 */
export const REALM = "resontech";

/** Of an identity provider that an operator connected; Keycloak allows no more. */
const ALIAS = "[A-Za-z0-9][A-Za-z0-9_-]*";
const NAME = "[A-Za-z0-9_][A-Za-z0-9_@.-]*";

const OPENID = `/realms/${REALM}/protocol/openid-connect`;
/** `logout/backchannel-logout`: by which a connected provider ends the sessions of those who left. */
const OPENID_ENDPOINTS = [
  ...["auth", "auth/device", "token", "revoke", "userinfo", "certs"],
  ...["logout", "logout/logout-confirm", "logout/backchannel-logout"],
];
/** Not `registration` and `reset-credentials`: nobody makes an account or a password without the operator. */
const LOGIN_ACTIONS = [
  ...["authenticate", "required-action", "consent", "restart", "detached-info", "action-token"],
  ...["first-broker-login", "post-broker-login"],
];
/** `endpoint/descriptor` is what a SAML provider must be told of us. */
const BROKER_ENDPOINTS = ["login", "endpoint", "endpoint/logout_response", "endpoint/descriptor"];

/** Regular expressions (PCRE and JavaScript alike), without their anchors. */
export const SIGN_IN_PATHS: readonly string[] = [
  `/realms/${REALM}/\\.well-known/openid-configuration`,
  `${OPENID}/(${OPENID_ENDPOINTS.join("|")})`,
  `/realms/${REALM}/device(/status)?`,
  `/realms/${REALM}/login-actions/(${LOGIN_ACTIONS.join("|")})`,
  `/realms/${REALM}/broker/${ALIAS}/(${BROKER_ENDPOINTS.join("|")})`,
  `/realms/${REALM}/broker/after-(first|post)-broker-login`,
  // Style, script and pictures of its pages: version, kind, theme, file.
  `/resources/[A-Za-z0-9_-]+/(login|common)(/${NAME}){2,}`,
];

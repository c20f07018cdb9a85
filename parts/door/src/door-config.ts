/** Configuration of the front door (HAProxy 2.8): https://docs.haproxy.org/2.8/configuration.html */
import { INFERENCE_PATH } from "@resontech/contracts/http-inference";
import { OPENAI_PATH, OPENAI_SILENT_MS } from "@resontech/contracts/openai-surface";
import { PEER_HEADER } from "@resontech/contracts/peer-header";
import { SERVER_TLS } from "@resontech/frame/tls-suites";
import { WITHOUT_KEYCLOAK, WITHOUT_SESSION } from "./cookie-filter.ts";
import {
  COORDINATOR_ERRORS,
  OWN_ERRORS,
  quoted,
  refuse,
  refuseAssertion,
  SERVING_ERRORS,
  SIGN_IN_ERRORS,
} from "./refusals.ts";
import { SIGN_IN_PATHS } from "./sign-in-paths.ts";

export type DoorSettings = {
  /** Of the perimeter: an IPv4 address. */
  address: string;
  port: number;
  /** The one name of the appliance, that its certificates and Keycloak's URLs have. */
  name: string;
  /** PEM `<base>.crt`, the chain; its key lies beside it as `<base>.key`. */
  certFile: string;
  /** Where the coordinator listens, plain HTTP. */
  coordinatorSocket: string;
  /** Where the inference gateway listens, plain HTTP. */
  servingSocket: string;
  keycloak: {
    /** Of 127.0.0.1, HTTPS. */
    port: number;
    /** Must vouch for Keycloak's certificate, which has the appliance's name. */
    caFile: string;
    /** PEM `<base>.crt`, which the door shows Keycloak; its key lies beside it as `<base>.key`. */
    clientCertFile: string;
  };
  /** At once, of all clients. */
  maxConnections: number;
  threads: number;
};

/** Where the door itself answers, whatever else runs: 200 while it does. */
export const DOOR_HEALTH_PATH = "/healthz/door";

/** Bytes. A request's headers, and what came of its body, must fit into one buffer; more headers than this get an answer that says so. */
const BUFFER = 65_536;
const MAX_HEADERS = 16_384;
/** Of the door: the coordinator's own limit is lower. */
const MAX_BODY = 1_048_576;
/** Of a form of Keycloak's: it and its headers fit into the buffer, so Keycloak never waits for a client. */
const MAX_SIGN_IN_BODY = 40_960;
/** Of all connections, what one address may have. */
const PART_OF_ONE_SOURCE = 1 / 4;

/** Seconds: a year, as browsers and scanners expect. No subdomains: they are the customer's. */
const STRICT_TRANSPORT_S = 31_536_000;

/** What a client could say of where it comes from, by a whole name or by how such names begin. */
const FORWARDED = [
  ...["forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "proxy"],
  PEER_HEADER,
];
const FORWARDED_PREFIXES = ["x-forwarded-", "x-original-", "x-rewrite-"];

/**
 * Escapes that could mean a slash, a dot or nothing at all, dot parts, empty parts, parameters and backslashes: what one program reads as another
 * path than the next one does. No route of ours has any.
 */
const AMBIGUOUS_PATH = "(%(2[ef]|5c|3b|25|[01]))|[;\\\\]|//|/\\.{1,2}(/|$)";

/** The whole file. The program is to be started as master and worker (`-W`). */
export function renderDoorConfig(settings: DoorSettings): string {
  const sections = [
    ["global", globalLines(settings)],
    ["defaults", DEFAULTS],
    ["frontend door", frontendLines(settings)],
    ["backend coordinator", coordinatorLines(settings)],
    ["backend sign_in", signInLines(settings)],
    ["backend serving", servingLines(settings)],
  ] as const;
  return sections
    .map(([title, lines]) => `${title}\n${lines.map((line) => `  ${line}\n`).join("")}`)
    .join("\n");
}

function globalLines({ maxConnections, threads }: DoorSettings): string[] {
  const suites = SERVER_TLS.ciphers.split(":");
  const isTls13 = (suite: string) => suite.startsWith("TLS_");
  return [
    "log stdout format raw local0 info",
    `maxconn ${maxConnections}`,
    `nbthread ${threads}`,
    // A worker whose certificate was renewed ends with its last connection; no session of a person lasts longer than this.
    "hard-stop-after 12h",
    "mworker-max-reloads 3",
    // A certificate's key is named as it is, without the certificate's own ending in its name.
    "ssl-load-extra-del-ext",
    "ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets",
    `ssl-default-bind-ciphersuites ${suites.filter(isTls13).join(":")}`,
    `ssl-default-bind-ciphers ${suites.filter((suite) => !isTls13(suite)).join(":")}`,
    `tune.bufsize ${BUFFER}`,
    "tune.h2.fe.max-concurrent-streams 64",
    "tune.ssl.cachesize 4000",
  ];
}

const DEFAULTS = [
  "mode http",
  "log global",
  "option dontlognull",
  "option dontlog-normal",
  // No query: codes of sign-ins travel in it.
  `log-format '%t %ci %ST %HM %HP %ts %Ta ms'`,
  // From the first byte to the last header, and between two requests.
  "timeout http-request 10s",
  "timeout http-keep-alive 60s",
  // Of silence: of a client that has to send or take something, and of the part that has to answer.
  "timeout client 30s",
  "timeout client-fin 10s",
  "timeout server 120s",
  "timeout tunnel 1h",
  "timeout connect 3s",
  "timeout queue 5s",
  // Reads on while an answer is under way. Without it HAProxy 2.8 may overlook that a long body and an early refusal are both over, and leaves the
  // next request of that connection unread. Whoever left is not worked for either: a model stops where nobody listens any more.
  "option abortonclose",
  // The client asks again: it knows what may be asked twice.
  "retries 0",
  ...OWN_ERRORS,
];

function frontendLines({ address, port, certFile, maxConnections }: DoorSettings): string[] {
  const ofOneSource = Math.max(16, Math.floor(maxConnections * PART_OF_ONE_SOURCE));
  const bad = (message: string) => refuse("malformed_request", message);
  return [
    `bind ${address}:${port} ssl crt ${quoted(certFile)} alpn h2,http/1.1`,
    "option http-restrict-req-hdr-names delete",
    // Of whatever answers, refusals of the door included: a browser that was here once never speaks to this name without TLS.
    `http-after-response set-header strict-transport-security max-age=${STRICT_TRANSPORT_S}`,
    "stick-table type ip size 20k expire 1m store conn_cur",
    "tcp-request connection track-sc0 src",
    `tcp-request connection reject if { sc0_conn_cur gt ${ofOneSource} }`,
    `http-request return status 200 content-type text/plain string ok if { path ${DOOR_HEALTH_PATH} }`,
    "# What is not for any program to read in its own way.",
    `http-request ${bad("the address is no path of this host")} unless { path -m beg / }`,
    `http-request ${refuse("not_found", "the address is not valid")} if { path -m reg -i ${quoted(AMBIGUOUS_PATH)} }`,
    `http-request ${refuse("headers_too_large", "the headers are too long")} if { req.hdrs,length gt ${MAX_HEADERS} }`,
    `http-request ${bad("there are two Cookie headers")} if { req.fhdr_cnt(cookie) gt 1 }`,
    `acl is_inference path_beg ${INFERENCE_PATH}/ ${OPENAI_PATH}/`,
    `http-request ${refuse("body_too_large", "the body is too long")} if { req.body_size gt ${MAX_BODY} } !is_inference`,
    "http-request set-uri %[pathq]",
    "# Who asks is what the door sees, and nothing that a client says.",
    ...FORWARDED.map((header) => `http-request del-header ${header}`),
    ...FORWARDED_PREFIXES.map((prefix) => `http-request del-header ${prefix} -m beg`),
    "# What of Keycloak is for people.",
    ...SIGN_IN_PATHS.map((path) => `acl is_sign_in path -m reg ${quoted(`^${path}$`)}`),
    `http-request ${refuse("method_not_allowed", "sign-in pages are read and posted to")} if is_sign_in !{ method GET HEAD POST }`,
    // A connection that speaks something else from here on would pass no rule of this file.
    `http-request ${bad("sign-in pages speak HTTP alone")} if is_sign_in { req.hdr(upgrade) -m found }`,
    `http-request ${refuse("length_required", "the length of the body is not said")} if is_sign_in { method POST } !{ req.hdr(content-length) -m found }`,
    `http-request ${refuse("body_too_large", "the form is too long")} if is_sign_in { req.body_size gt ${MAX_SIGN_IN_BODY} }`,
    // A body that fills the buffer goes on: what it lacks is the coordinator's to wait for.
    "http-request wait-for-body time 10s unless { method GET } { req.hdr(upgrade) -m found } || is_inference",
    "use_backend serving if is_inference",
    "use_backend sign_in if is_sign_in",
    "default_backend coordinator",
  ];
}

function coordinatorLines({ coordinatorSocket }: DoorSettings): string[] {
  return [
    `http-request set-header ${PEER_HEADER} %[src]`,
    ...WITHOUT_KEYCLOAK,
    ...COORDINATOR_ERRORS,
    // That it restarts stands in the supervisor's log: a line for each request meanwhile would fill this one.
    "http-after-response set-log-level silent if { status 503 }",
    `server coordinator unix@${quoted(coordinatorSocket)}`,
  ];
}

/**
 * What a replica answers is some user's program's, at the address where people are signed in: no browser is to run it as a page or a script.
 * A browser that is told not to guess runs nothing of these types.
 */
const AS_DATA = [
  "http-response set-header content-type application/octet-stream unless { res.fhdr(content-type),lower -m reg '^(application/json|text/event-stream)( *; *charset=[a-z0-9-]+)?$' }",
  "http-response set-header x-content-type-options nosniff",
  `http-response set-header content-security-policy ${quoted("default-src 'none'; sandbox")}`,
];

/** Bodies stream: the gateway has limits of its own. Who hangs up is told at once, so that the replica's place is free. */
function servingLines({ servingSocket }: DoorSettings): string[] {
  return [
    `http-request set-header ${PEER_HEADER} %[src]`,
    "http-request del-header cookie",
    ...AS_DATA,
    "option abortonclose",
    "http-after-response set-log-level silent if { status 503 }",
    // The gateway's own limit comes first: it says in the caller's form what was too late.
    `timeout server ${OPENAI_SILENT_MS / 1_000 + 20}s`,
    ...SERVING_ERRORS,
    `server serving unix@${quoted(servingSocket)}`,
  ];
}

/**
 * Seconds from `iat` to `exp` of a client's assertion. Keycloak holds one to a minute after `iat`, whatever `exp` says, and takes it then: what is documented
 * as refused is refused here. One without `iat` Keycloak measures from now.
 */
const MAX_ASSERTION_S = 60;
const ASSERTION = "var(txn.assertion),jwt_payload_query";

const ASSERTIONS = [
  // A name that is written with escapes would be another name to Keycloak than to the door.
  `http-request ${refuseAssertion("names of the form have no escapes")} if { path_end /protocol/openid-connect/token } { req.body -m reg ${quoted("(^|&)[^=&]*[%+][^=&]*=")} }`,
  "http-request set-var(txn.assertion) req.body_param(client_assertion),url_dec(1)",
  `http-request set-var(txn.exp) ${ASSERTION}('$.exp','int')`,
  `http-request set-var(txn.iat) ${ASSERTION}('$.iat','int')`,
  "acl has_assertion var(txn.assertion) -m found",
  `http-request ${refuseAssertion("the assertion does not say when it ends")} if has_assertion !{ var(txn.exp) -m found }`,
  `http-request ${refuseAssertion(`an assertion is good for ${MAX_ASSERTION_S} seconds at most: exp is too far from iat`)} if has_assertion { var(txn.iat) -m found } { var(txn.exp),sub(txn.iat) gt ${MAX_ASSERTION_S} }`,
];

function signInLines({ name, port, keycloak }: DoorSettings): string[] {
  return [
    `http-request set-header host ${name}:${port}`,
    "http-request set-header x-forwarded-for %[src]",
    "http-request set-header x-forwarded-proto https",
    `http-request set-header x-forwarded-host ${name}:${port}`,
    `http-request set-header x-forwarded-port ${port}`,
    ...ASSERTIONS,
    ...WITHOUT_SESSION,
    ...SIGN_IN_ERRORS,
    // The kernel takes the connection; the time is that of the handshake, which a busy Keycloak begins late. One that is away refuses at once.
    "timeout connect 30s",
    `server keycloak 127.0.0.1:${keycloak.port} ssl verify required ca-file ${quoted(keycloak.caFile)} crt ${quoted(keycloak.clientCertFile)} sni str(${name}) verifyhost ${name} ssl-min-ver TLSv1.2 maxconn 200`,
  ];
}

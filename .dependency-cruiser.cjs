// Imports run one way: contracts ← everything; rooms meet only through `exports` doors. See docs/developer/architecture.md.
const rooms = "audit|verifier|parts/[^/]+|parts|policies|backup|airgap|appliance|installer|cli";
/** Of the coordinator, from the ground up: what stands in one line may import from its own line and from those above it here. */
const coordinator = [
  ["findings/", "api-error\\.ts", "state-of-part\\.ts", "db/"],
  ["audit-ports\\.ts", "authorization/"],
  ["audited-operation\\.ts", "audit/", "storage/", "policy-trial/"],
  ["identity/"],
  ["kernel/"],
  ["submission/", "nodes/", "feed/", "shares/", "pools/", "approvals/", "job-mails/"],
  ["workloads/", "outputs/", "metrics/", "schedules/", "use/", "hub/", "images/"],
  ["inference/"],
  ["http/", "bus/", "front/", "read-config\\.ts"],
  ["control/", "app\\.ts", "control-app\\.ts"],
  ["compose/"],
  ["server\\.ts"],
];
const under = (layers) => `^parts/coordinator/src/(${layers.flat().join("|")})`;

/** Folders of audit/src, a library → what of audit/src each may import beside itself. audit/README.md says why. */
const auditArrows = {
  format: [],
  approvals: ["format"],
  producer: ["format"],
  export: ["format"],
  keys: [],
  scrub: [],
};
/** Parts that write or read the log itself → what of audit/src each may import. Every other part writes into it as a producer does. */
const logReaders = {
  auditd: ["format", "approvals", "keys"],
  "audit-out": ["format", "producer", "export", "scrub"],
  vault: ["format", "producer", "approvals", "keys", "scrub"],
  witness: ["format"],
};
const auditRule = (name, from, folders) => ({
  name,
  comment: `${from} imports of audit/src only: ${folders.join(", ")}`,
  severity: "error",
  from: { path: `^${from}` },
  to: { path: "^audit/src/", pathNot: `^audit/src/(${folders.join("|")})/` },
});
const auditRules = [
  ...Object.entries(auditArrows).map(([folder, others]) =>
    auditRule(`audit-${folder}`, `audit/src/${folder}/`, [folder, ...others]),
  ),
  ...Object.entries(logReaders).map(([part, folders]) => auditRule(`log-of-${part}`, `parts/${part}/src/`, folders)),
];
module.exports = {
  forbidden: [
    ...auditRules,
    {
      name: "audit-has-these-folders-alone",
      severity: "error",
      from: { path: "^audit/src/", pathNot: `^audit/src/(${Object.keys(auditArrows).join("|")})/` },
      to: {},
    },
    {
      name: "verifier-has-code-of-its-own",
      comment: "it judges what the rest of this tree wrote, so it shares no line with it, and no package but one for ML-DSA-44",
      severity: "error",
      from: { path: "^verifier/src/" },
      to: { pathNot: "^(verifier/src/|node_modules/@noble/post-quantum/)", dependencyTypesNot: ["core"] },
    },
    {
      name: "verifier-judges-in-any-runtime",
      comment: "only main.ts and platform/ know Node; the page has the rest, too",
      severity: "error",
      from: { path: "^verifier/src/", pathNot: "^verifier/src/(main|judge)\\.ts$|^verifier/src/platform/" },
      to: { dependencyTypes: ["core"] },
    },
    ...coordinator.slice(0, -1).map((layer, at) => ({
      name: "no-arrow-upward-in-the-coordinator",
      severity: "error",
      from: { path: under([layer]) },
      to: { path: under(coordinator.slice(at + 1)) },
    })),
    {
      name: "every-folder-of-the-coordinator-has-its-layer",
      severity: "error",
      from: {},
      to: { path: "^parts/coordinator/src/", pathNot: under(coordinator) },
    },
    {
      name: "rooms-meet-through-exports",
      comment: "what another room needs has a name in `exports`, tests, proofs and dev included; fixtures are `@resontech/<room>/testing/<name>`",
      severity: "error",
      from: { path: "^(parts/(?!test/)[^/]+(?=/)|[^/]+)/" },
      to: { pathNot: "^$1/", dependencyTypes: ["local"], dependencyTypesNot: ["aliased"] },
    },
    {
      name: "rooms-meet-through-exports",
      comment: "the list of all parts lies above them, and is a room of its own",
      severity: "error",
      from: { path: "^parts/(test/|[^/]+$)" },
      to: { path: "^parts/(?!test/)[^/]+/", dependencyTypes: ["local"], dependencyTypesNot: ["aliased"] },
    },
    {
      name: "no-product-inside-a-process",
      comment: "exports of the coordinator's and the agent's src/ are there for tests and proofs: the product meets both over sockets",
      severity: "error",
      from: { path: `^(contracts|frame|dashboard|${rooms})/src/|^parts/[^/]+\\.ts$`, pathNot: "^parts/(coordinator|agent)/" },
      to: { path: "^parts/(coordinator|agent)/src/(?!operations\\.ts$)" },
    },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "contracts-import-nothing-of-ours",
      severity: "error",
      from: { path: "^contracts/" },
      to: { path: `^(frame|${rooms}|proofs|dev)/` },
    },
    {
      name: "frame-imports-contracts-alone",
      severity: "error",
      from: { path: "^frame/" },
      to: { path: `^(${rooms}|proofs|dev)/` },
    },
    {
      name: "keycloak-imports-nothing-of-ours",
      comment: "the client of Keycloak serves the coordinator and the appliance alike",
      severity: "error",
      from: { path: "^parts/keycloak/src/" },
      to: { path: `^(frame|${rooms}|proofs|dev)/`, pathNot: "^parts/keycloak/src/" },
    },
    {
      name: "audit-imports-no-process",
      comment: "the log's format and the way in are a library, which every process takes",
      severity: "error",
      from: { path: "^audit/src/" },
      to: { path: `^(${rooms})/`, pathNot: "^audit/" },
    },
    {
      name: "running-parts-never-import-one-another",
      comment: "coordinator, agent and parts meet over sockets and contracts; audit/src/producer is the one door; the coordinator has Keycloak's client, and asks Prometheus",
      severity: "error",
      from: { path: "^parts/(coordinator|agent)/(?:src/|part\\.ts$)" },
      to: {
        path: `^(house|${rooms})/`,
        pathNot: "^(?:audit/src/producer/|parts/[^/]+/src/operations\\.ts$|parts/keycloak/src/|parts/prometheus/src/(?:reader-name|kept-figures)\\.ts$|parts/$1/|parts/node_modules/)",
      },
    },
    {
      name: "parts-never-import-one-another",
      comment: "a part knows of another one the operations that it serves, and the name that Prometheus answers",
      severity: "error",
      from: { path: "^parts/(?!(?:coordinator|agent)/)([^/]+)/(?:src/|part\\.ts$)" },
      to: {
        path: `^(house|${rooms})/`,
        pathNot: "^(?:parts/$1/|parts/[^/]+/src/operations\\.ts$|audit/src/|parts/prometheus/src/reader-name\\.ts$|parts/node_modules/)",
      },
    },
    {
      name: "parts-write-into-the-log-as-producers",
      comment: "of the log a part knows how to write into it and to hash as it does",
      severity: "error",
      from: { path: "^parts/", pathNot: `^parts/(?:(?:${Object.keys(logReaders).join("|")})/src/|[^/]+/(?:test|node_modules)/)` },
      to: { path: "^audit/src/", pathNot: "^audit/src/(?:producer/|format/tree/merkle\\.ts$)" },
    },
    {
      name: "declarations-are-pure",
      comment: "part.ts and operations.ts are data and pure functions: a test reads them all without starting one",
      severity: "error",
      from: { path: ["^parts/[^/]+/(?:part|src/(?:operations|findings))\\.ts$", "^parts/[^/]+/src/findings/"] },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "processes-hold-no-commands",
      comment: "what a part's process runs stays as small as its work; its commands ship with `appliance`",
      severity: "error",
      from: { path: "^parts/[^/]+/(?:part\\.ts$|src/(?!commands/))" },
      to: { path: "^parts/[^/]+/src/commands/" },
    },
    {
      name: "no-test-code-in-product",
      severity: "error",
      from: { path: `^(contracts|frame|${rooms})/src/` },
      to: { path: "(^|/)(test|house|proofs|dev)/" },
    },
    {
      name: "decisions-stay-pure",
      comment: "a folder named decisions/, and what an event of the log is, are pure functions: no I/O, no engine clients",
      severity: "error",
      from: { path: ["/decisions/", "^audit/src/format/event/", "^audit/src/format/shard/shard-plan"], pathNot: "/test/" },
      to: {
        path: [
          "^(node:)?(fs|fs/promises|net|http|https|child_process|os|worker_threads|dgram|tls)$",
          "node_modules/(better-sqlite3|@nats-io|minio|dockerode|fastify)/",
        ],
      },
    },
    {
      name: "authorization-stays-pure",
      comment: "parts/coordinator/src/authorization decides by its arguments and its policies alone: of the coordinator it knows the form of an error and of a row filter",
      severity: "error",
      from: { path: "^parts/coordinator/src/authorization/" },
      to: {
        pathNot: "^(contracts/src/|node_modules/@cedar-policy/|parts/coordinator/src/(authorization/|api-error\\.ts$|db/row-filter\\.ts$))",
        dependencyTypesNot: ["core"],
      },
    },
    {
      name: "policies-are-read-by-two-files",
      comment: "of authorization/ only these look at files",
      severity: "error",
      from: { path: "^parts/coordinator/src/authorization/", pathNot: "/(policy-files|policies-in-force)\\.ts$" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "container-host-behind-its-interface",
      comment: "parts/agent/src/substrate is what the agent knows of where members run; app.ts alone says which implementation it is",
      severity: "error",
      from: { path: "^parts/agent/src/", pathNot: "^parts/agent/src/(app\\.ts$|substrate/container-host/)" },
      to: { path: "^parts/agent/src/substrate/container-host/" },
    },
    {
      name: "engine-client-in-the-container-host-alone",
      severity: "error",
      from: { path: "^parts/agent/", pathNot: "^parts/agent/(src/substrate/container-host|test)/" },
      to: { path: "node_modules/(@types/)?dockerode/" },
    },
    {
      name: "substrate-interface-names-no-implementation",
      comment: "the interface is types of the contract and pure decisions: nothing of an engine, of this host or of node:*",
      severity: "error",
      from: { path: "^parts/agent/src/substrate/[^/]+\\.ts$" },
      to: { pathNot: "^(contracts/src/|parts/agent/src/decisions/|parts/agent/src/substrate/[^/]+\\.ts$)" },
    },
    {
      name: "substrates-know-no-member",
      comment: "what is staged, stored and told is not a substrate's: another implementation must not need it",
      severity: "error",
      from: { path: "^parts/agent/src/substrate/" },
      to: { path: "^parts/agent/src/(members|bus|staging|outputs|off-thread|audit|lease|join)/" },
    },
    { name: "not-to-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "not-to-dev-dep",
      severity: "error",
      from: { path: `^(contracts|frame|${rooms})/src/` },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist|\\.appliance|\\.cache|\\.tap)/" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"], extensions: [".ts", ".mjs", ".js", ".json"] },
  },
};

// Imports run one way: contracts ← everything; rooms meet only through `exports` doors. See docs/developer/architecture.md.
const rooms = "audit|parts/[^/]+|parts|coordinator|agent|policies|backup|airgap|appliance|installer|cli";
/** Of the coordinator, from the ground up: what stands in one line may import from its own line and from those above it here. */
const coordinator = [
  ["findings/", "api-error\\.ts", "state-of-part\\.ts", "db/"],
  ["audit-ports\\.ts", "authorization/"],
  ["audited-operation\\.ts", "audit/", "storage/", "policy-trial/"],
  ["identity/"],
  ["kernel/"],
  ["submission/", "nodes/", "feed/", "approvals/", "job-mails/"],
  ["workloads/", "outputs/", "metrics/", "hub/", "images/"],
  ["inference/"],
  ["http/", "bus/", "front/", "read-config\\.ts"],
  ["control/", "app\\.ts", "control-app\\.ts"],
  ["compose/"],
  ["server\\.ts"],
];
const under = (layers) => `^coordinator/src/(${layers.flat().join("|")})`;

/**
 * The four products of audit/src (log, out, vault, verifier) and the two folders that they share; `log` has six parts of its own.
 * Folder → what of audit/src it may import beside itself. audit/README.md says why.
 */
const auditArrows = {
  "log/format": [],
  "log/approvals": ["log/format"],
  "log/producer": ["log/format"],
  "log/export": ["log/format"],
  "log/witness": ["log/format"],
  "log/auditd": ["log/format", "log/approvals", "keys"],
  out: ["log/format", "log/producer", "log/export", "scrub"],
  vault: ["log/format", "log/producer", "log/approvals", "keys", "scrub"],
  verifier: [],
  keys: [],
  scrub: [],
};
const auditRules = Object.entries(auditArrows).map(([folder, others]) => ({
  name: `audit-${folder.replace("/", "-")}`,
  comment: `audit/src/${folder} imports of audit/src only: ${[folder, ...others].join(", ")}`,
  severity: "error",
  from: { path: `^audit/src/${folder}/` },
  to: { path: "^audit/src/", pathNot: `^audit/src/(${[folder, ...others].join("|")})/` },
}));
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
      from: { path: "^audit/src/verifier/" },
      to: { pathNot: "^(audit/src/verifier/|node_modules/@noble/post-quantum/)", dependencyTypesNot: ["core"] },
    },
    {
      name: "verifier-judges-in-any-runtime",
      comment: "only main.ts and platform/ know Node; the page has the rest, too",
      severity: "error",
      from: { path: "^audit/src/verifier/", pathNot: "^audit/src/verifier/(main|judge)\\.ts$|^audit/src/verifier/platform/" },
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
      to: { path: "^coordinator/src/", pathNot: under(coordinator) },
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
      name: "running-parts-never-import-one-another",
      comment: "coordinator, agent, S3 front and audit meet over sockets and contracts; audit/src/producer is the one door",
      severity: "error",
      from: { path: "^(coordinator|agent|audit)/src/" },
      to: { path: `^(${rooms})/`, pathNot: "^(?:audit/src/log/producer/|parts/[^/]+/src/operations\\.ts$|parts/keycloak/src/|$1/)" },
    },
    {
      name: "parts-never-import-one-another",
      comment: "a part knows of another one the operations that it serves, how to write into the log and hash as it does, and the name that Prometheus answers",
      severity: "error",
      from: { path: "^parts/([^/]+)/(?:src/|part\\.ts$)" },
      to: {
        path: `^(house|${rooms})/`,
        pathNot: "^(?:parts/$1/|parts/[^/]+/src/operations\\.ts$|audit/src/log/producer/|audit/src/log/format/tree/merkle\\.ts$|parts/prometheus/src/reader-name\\.ts$|parts/node_modules/)",
      },
    },
    {
      name: "declarations-are-pure",
      comment: "part.ts and operations.ts are data and pure functions: a test reads them all without starting one",
      severity: "error",
      from: { path: ["^parts/[^/]+/(?:part|src/(?:operations|findings))\\.ts$", "^coordinator/(?:part\\.ts$|src/findings/)", "^agent/part\\.ts$"] },
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
      from: { path: ["/decisions/", "^audit/src/log/format/event/", "^audit/src/log/format/shard/shard-plan"], pathNot: "/test/" },
      to: {
        path: [
          "^(node:)?(fs|fs/promises|net|http|https|child_process|os|worker_threads|dgram|tls)$",
          "node_modules/(better-sqlite3|@nats-io|minio|dockerode|fastify)/",
        ],
      },
    },
    {
      name: "authorization-stays-pure",
      comment: "coordinator/src/authorization decides by its arguments and its policies alone: of the coordinator it knows the form of an error and of a row filter",
      severity: "error",
      from: { path: "^coordinator/src/authorization/" },
      to: {
        pathNot: "^(contracts/src/|node_modules/@cedar-policy/|coordinator/src/(authorization/|api-error\\.ts$|db/row-filter\\.ts$))",
        dependencyTypesNot: ["core"],
      },
    },
    {
      name: "policies-are-read-by-two-files",
      comment: "of authorization/ only these look at files",
      severity: "error",
      from: { path: "^coordinator/src/authorization/", pathNot: "/(policy-files|policies-in-force)\\.ts$" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "container-host-behind-its-interface",
      comment: "agent/src/substrate is what the agent knows of where members run; app.ts alone says which implementation it is",
      severity: "error",
      from: { path: "^agent/src/", pathNot: "^agent/src/(app\\.ts$|substrate/container-host/)" },
      to: { path: "^agent/src/substrate/container-host/" },
    },
    {
      name: "engine-client-in-the-container-host-alone",
      severity: "error",
      from: { path: "^agent/", pathNot: "^agent/(src/substrate/container-host|test)/" },
      to: { path: "node_modules/(@types/)?dockerode/" },
    },
    {
      name: "substrate-interface-names-no-implementation",
      comment: "the interface is types of the contract and pure decisions: nothing of an engine, of this host or of node:*",
      severity: "error",
      from: { path: "^agent/src/substrate/[^/]+\\.ts$" },
      to: { pathNot: "^(contracts/src/|agent/src/decisions/|agent/src/substrate/[^/]+\\.ts$)" },
    },
    {
      name: "substrates-know-no-member",
      comment: "what is staged, stored and told is not a substrate's: another implementation must not need it",
      severity: "error",
      from: { path: "^agent/src/substrate/" },
      to: { path: "^agent/src/(members|bus|staging|outputs|off-thread|audit|lease|join)/" },
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

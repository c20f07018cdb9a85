// Imports run one way: contracts ← everything; rooms meet only through `exports` doors. See docs/developer/architecture.md.
const rooms = "audit|s3-front|coordinator|agent|registry-mirror|policies|airgap|appliance|installer|cli";
module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "contracts-import-nothing-of-ours",
      severity: "error",
      from: { path: "^contracts/" },
      to: { path: `^(daemon|${rooms}|proofs|dev)/` },
    },
    {
      name: "daemon-imports-nothing-of-ours",
      severity: "error",
      from: { path: "^daemon/" },
      to: { path: `^(contracts|${rooms}|proofs|dev)/` },
    },
    {
      name: "running-parts-never-import-one-another",
      comment: "coordinator, agent, S3 front and audit meet over sockets and contracts; audit/src/producer is the one door",
      severity: "error",
      from: { path: "^(coordinator|agent|audit|s3-front)/src/" },
      to: { path: `^(${rooms})/`, pathNot: "^(?:audit/src/log/producer/|$1/)" },
    },
    {
      name: "no-test-code-in-product",
      severity: "error",
      from: { path: `^(contracts|daemon|${rooms})/src/` },
      to: { path: "(^|/)(test|proofs|dev)/" },
    },
    {
      name: "decisions-stay-pure",
      comment: "a folder named decisions/ holds pure functions: no I/O, no engine clients",
      severity: "error",
      from: { path: "/decisions/", pathNot: "/test/" },
      to: {
        path: [
          "^(node:)?(fs|fs/promises|net|http|https|child_process|os|worker_threads|dgram|tls)$",
          "node_modules/(better-sqlite3|@nats-io|minio|dockerode|fastify)/",
        ],
      },
    },
    {
      name: "authorization-stays-pure",
      comment: "coordinator/src/authorization decides by its arguments alone: of the coordinator it knows the form of an error and of a row filter",
      severity: "error",
      from: { path: "^coordinator/src/authorization/" },
      to: { pathNot: "^(contracts/src/|coordinator/src/(authorization/|api-error\\.ts$|db/row-filter\\.ts$))" },
    },
    { name: "not-to-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "not-to-dev-dep",
      severity: "error",
      from: { path: `^(contracts|daemon|${rooms})/src/` },
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

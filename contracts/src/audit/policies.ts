/** The policies that are decided by so far, as `decision.policy_ids` of an audit event names them. docs/auditor/entries.md lists the same; an id never changes meaning. */
export const POLICIES = {
  "key-scope": "a platform key does what its scopes name, and nothing else",
  "admin-role": "what concerns the whole appliance is an administrator's",
  "no-grant": "what no rule grants to a caller is refused",
  "key-by-session": "a platform key is minted in a browser session, never by a platform key",
  "audit-all": "an administrator sees every entry of the log",
  "audit-own": "anybody else sees the entries of what he did himself or what was done for him",
  "bucket-quota": "a bucket takes no more than its quota",
  "bucket-owner": "a bucket takes and gives copies of objects by its owner's key alone",
  "platform-folders":
    "outputs of accepted jobs, `logs/` and `ckpt/` are written by the platform alone; a finished job's may be deleted",
  "store-keys": "key pairs of the object store are made and removed by the coordinator alone",
  "coordinator-copies": "the coordinator's key copies no objects",
  "output-export":
    "where a site controls what models leave, they are read with the coordinator's key alone",
} as const satisfies Record<string, string>;

export type PolicyId = keyof typeof POLICIES;

/** As an audit event has it. There is no file of policies yet whose digest it could name. */
export type Decision = { effect: "allow" | "deny"; policy_ids: PolicyId[] };

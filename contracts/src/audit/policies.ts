/** The policies that are decided by so far, as `decision.policy_ids` of an audit event names them. docs/auditor/entries.md lists the same; an id never changes meaning. */
export const POLICIES = {
  "key-scope": "a platform key does what its scopes name, and nothing else",
  "admin-role": "what concerns the whole appliance is an administrator's",
  "no-grant": "what no rule grants to a caller is refused",
  "key-by-session": "a platform key is minted in a browser session, never by a platform key",
  "separation-of-duties":
    "an auditor is no administrator, security officer or researcher as well; until then he does nothing",
  "admin-sees-no-data": "a platform administrator never sees data or outputs",
  "auditor-sees-no-data": "an auditor reads about actions, and never sees data or outputs",
  "auditor-has-no-key": "an auditor has no platform key",
  "auditor-mints-no-key": "an auditor mints no platform key",
  "no-interactive-program": "a service account submits no interactive job",
  "step-up": "what weighs much needs a second factor within the last five minutes",
  "two-people": "what weighs most needs another person's approval",
  "four-eyes": "nobody decides a request of their own",
  "audit-all": "a security officer or an auditor sees every entry of the log",
  "audit-own": "anybody else sees the entries of what he did himself or what was done for him",
  "bucket-quota": "a bucket takes no more than its quota",
  "bucket-owner": "a bucket takes and gives copies of objects by its members' keys alone",
  "platform-folders":
    "`model_out/` and `files_out/` in `jobs/`, `logs/` and `ckpt/` are written by the platform alone; a finished job's may be deleted",
  "store-keys": "key pairs of the object store are made and removed by the coordinator alone",
  "coordinator-copies":
    "the coordinator's key copies a range of a version alone, by its own signature",
  "output-approval":
    "where a project's outputs leave by approval, a member reads the released versions of them alone",
  "output-export":
    "where a site controls what models leave, they are read with the coordinator's key alone",
} as const satisfies Record<string, string>;

export type PolicyId = keyof typeof POLICIES;

/**
 * As an audit event has it. `policy_set_sha256` names the files of policies that decided (`policies/README.md`); it is left out where
 * code decides, as of quotas and of objects at the S3 door.
 */
export type Decision = {
  effect: "allow" | "deny";
  policy_set_sha256?: string;
  policy_ids: PolicyId[];
};

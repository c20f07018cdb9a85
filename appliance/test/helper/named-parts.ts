/** Files of `appliance/` that name parts, with how often. The list may only shrink. */
export const NAMED_PARTS: readonly { why: string; files: Readonly<Record<string, number>> }[] = [
  {
    why: "in which order a backup is read, and whose state follows from another's, is the backup's own",
    files: {
      "src/backup/backup-parts.ts": 8,
      "src/backup/finish-staged.ts": 10,
      "src/backup/follower/follow-appliance.ts": 1,
      "src/backup/follower/main.ts": 1,
      "src/backup/postgres-archive.ts": 1,
      "src/backup/stage-followed.ts": 1,
      "src/backup/take-appliance-backup.ts": 2,
    },
  },
  {
    why: "a command asks the one part whose work it is",
    files: {
      "src/commands/ask-operator.ts": 1,
      "src/commands/audit-export.ts": 1,
      "src/commands/check-images.ts": 1,
      "src/commands/connect-commands.ts": 1,
      "src/commands/metrics-token.ts": 1,
      "src/commands/own-image-commands.ts": 1,
      "src/commands/planned-stop.ts": 2,
      "src/commands/privacy-commands.ts": 1,
      "src/commands/restore-vault-keys.ts": 3,
      "src/commands/user-commands.ts": 1,
      "src/main.ts": 3,
    },
  },
  {
    why: "the log can't record that it ends itself",
    files: { "src/commands/recorded-parts.ts": 1 },
  },
  {
    why: "the first start asks the coordinator, which reads what the supervisor knows",
    files: {
      "src/first-boot/first-boot.ts": 4,
      "src/first-boot/follow-name.ts": 1,
      "src/first-boot/prepare.ts": 2,
      "src/supervise.ts": 1,
      "src/facts/write-facts.ts": 1,
    },
  },
  {
    why: "Keycloak's realm, its database and its first administrator",
    files: {
      "src/keycloak/kept-database.ts": 3,
      "src/keycloak/own-realm.ts": 1,
      "src/keycloak/replace-bootstrap-admin.ts": 1,
      "src/keycloak/take-away-removals.ts": 2,
    },
  },
  {
    why: "where a node keeps its identity, and which release it is brought to",
    files: { "src/node/node-upgrade-file.ts": 1, "src/status/read-certificates.ts": 1 },
  },
  {
    why: "each part that says how it is has a way of its own to be asked; disks have words for people",
    files: {
      "src/status/read-disks.ts": 4,
      "src/status/read-status-facts.ts": 2,
      "src/status/status.ts": 1,
    },
  },
];

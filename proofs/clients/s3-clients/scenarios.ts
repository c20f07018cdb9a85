/** What each client does, as its user would: one row a step, told by what it prints. */
import { join } from "node:path";
import type { Tools } from "./tools.ts";

export type Step = {
  what: string;
  command: readonly string[];
  /** That the output must match, standard error included. */
  says?: RegExp;
  /** That it must fail with; without it the step must succeed. */
  fails?: RegExp;
};
export type Scenario = { client: string; env: Record<string, string>; steps: Step[] };

/** `folder` has `small`, `big`, `over` and the files of configuration; `wrong*` names a secret that is none. */
export type Site = {
  port: number;
  bucket: string;
  folder: string;
  accessKeyId: string;
  secretAccessKey: string;
  caFile: string;
};

const ODD = "a b/ü+.txt";

/** The configuration files that the scenarios name, by their names. */
export function configFiles({
  port,
  accessKeyId,
  secretAccessKey,
  caFile,
}: Site): Record<string, string> {
  const s3cmd = (secret: string): string =>
    [
      "[default]",
      `access_key = ${accessKeyId}`,
      `secret_key = ${secret}`,
      `host_base = localhost:${port}`,
      `host_bucket = localhost:${port}`,
      "bucket_location = garage",
      "use_https = True",
      `ca_certs_file = ${caFile}`,
      "multipart_chunk_size_mb = 8",
      "max_retries = 1",
      "",
    ].join("\n");
  return {
    "aws.config":
      "[default]\nregion = garage\ns3 =\n  addressing_style = path\n  multipart_chunksize = 8MB\n",
    "s3cmd.config": s3cmd(secretAccessKey),
    "s3cmd.wrong": s3cmd("x".repeat(40)),
    "s3fs.passwd": `${accessKeyId}:${secretAccessKey}`,
  };
}

export function scenarios(tools: Tools, site: Site): Scenario[] {
  const { port, bucket, folder, accessKeyId, secretAccessKey, caFile } = site;
  const at = (name: string): string => join(folder, name);
  const endpoint = `https://localhost:${port}`;
  const here = import.meta.dirname;
  const over = "70000000";
  const keys = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
  const wrong = ["env", `AWS_SECRET_ACCESS_KEY=${"x".repeat(40)}`];
  const ofAws = { ...keys, AWS_CA_BUNDLE: caFile, AWS_EC2_METADATA_DISABLED: "true" };
  const same = (name: string, back: string): Step => ({
    what: `${name} came back whole`,
    command: ["cmp", at(name), at(back)],
  });
  const aws = [tools.aws, "--endpoint-url", endpoint];
  const s3cmd = [tools.s3cmd, "-c", at("s3cmd.config")];
  const rclone = [tools.rclone, "--ca-cert", caFile, "--retries", "1", "--low-level-retries", "1"];
  const s5cmd = [tools.s5cmd, "--endpoint-url", endpoint, "--retry-count", "0"];
  const mc = [tools.mc, "--config-dir", at("mc"), "--no-color"];
  const mcHost = (secret: string): string =>
    `MC_HOST_door=https://${accessKeyId}:${secret}@localhost:${port}`;
  return [
    {
      client: "boto3",
      env: ofAws,
      steps: [
        {
          what: "its scenario",
          command: [
            tools.python,
            join(here, "boto3_scenario.py"),
            endpoint,
            bucket,
            at("big"),
            over,
          ],
          says: /^buckets\nown-bucket\nsmall\nparts\ncopy\ndelete\nrefusals$/m,
        },
      ],
    },
    {
      client: "awscli",
      env: { ...ofAws, AWS_CONFIG_FILE: at("aws.config"), AWS_MAX_ATTEMPTS: "1" },
      steps: [
        { what: "ls", command: [...aws, "s3", "ls"], says: new RegExp(bucket) },
        {
          what: "mb of the own bucket",
          command: [...aws, "s3", "mb", `s3://${bucket}`],
          fails: /BucketAlreadyOwnedByYou/,
        },
        { what: "cp up", command: [...aws, "s3", "cp", at("small"), `s3://${bucket}/data/${ODD}`] },
        {
          what: "cp up in parts",
          command: [...aws, "s3", "cp", at("big"), `s3://${bucket}/data/big`],
        },
        { what: "cp down", command: [...aws, "s3", "cp", `s3://${bucket}/data/big`, at("back")] },
        same("big", "back"),
        {
          what: "cp within",
          command: [...aws, "s3", "cp", `s3://${bucket}/data/big`, `s3://${bucket}/data/copy`],
        },
        {
          what: "ls of all",
          command: [...aws, "s3", "ls", "--recursive", `s3://${bucket}`],
          says: /data\/a b\/ü\+\.txt/,
        },
        {
          what: "attributes",
          command: [
            ...[...aws, "s3api", "get-object-attributes", "--bucket", bucket, "--key", "data/big"],
            ...["--object-attributes", "ObjectSize"],
          ],
          says: /"ObjectSize": 20971520/,
        },
        { what: "rm of all", command: [...aws, "s3", "rm", "--recursive", `s3://${bucket}/data`] },
        {
          what: "a wrong secret",
          command: [...wrong, ...aws, "s3", "cp", at("small"), `s3://${bucket}/x`],
          fails: /SignatureDoesNotMatch/,
        },
        {
          what: "a wrong secret with parts",
          command: [...wrong, ...aws, "s3", "cp", at("big"), `s3://${bucket}/x`],
          fails: /SignatureDoesNotMatch/,
        },
        {
          what: "the quota",
          command: [
            ...aws,
            "s3api",
            "put-object",
            "--bucket",
            bucket,
            "--key",
            "x",
            "--body",
            at("over"),
          ],
          fails: /QuotaExceeded/,
        },
      ],
    },
    {
      client: "s3cmd",
      env: {},
      steps: [
        { what: "ls", command: [...s3cmd, "ls"], says: new RegExp(bucket) },
        { what: "put", command: [...s3cmd, "put", at("small"), `s3://${bucket}/data/${ODD}`] },
        { what: "put in parts", command: [...s3cmd, "put", at("big"), `s3://${bucket}/data/big`] },
        {
          what: "get",
          command: [...s3cmd, "get", "--force", `s3://${bucket}/data/big`, at("back")],
        },
        same("big", "back"),
        {
          what: "cp",
          command: [...s3cmd, "cp", `s3://${bucket}/data/${ODD}`, `s3://${bucket}/data/copy`],
        },
        {
          what: "modify",
          command: [
            ...[...s3cmd, "modify", "--add-header=x-amz-meta-of:somebody"],
            `s3://${bucket}/data/copy`,
          ],
        },
        {
          what: "what it modified",
          command: [...s3cmd, "info", `s3://${bucket}/data/copy`],
          says: /x-amz-meta-of:\s*somebody/,
        },
        {
          what: "ls of all",
          command: [...s3cmd, "ls", "--recursive", `s3://${bucket}`],
          says: /data\/a b\/ü\+\.txt/,
        },
        {
          what: "del of all",
          command: [...s3cmd, "del", "--recursive", "--force", `s3://${bucket}/data/`],
        },
        {
          what: "a wrong secret",
          command: [tools.s3cmd, "-c", at("s3cmd.wrong"), "put", at("small"), `s3://${bucket}/x`],
          fails: /SignatureDoesNotMatch/,
        },
        {
          what: "the quota",
          command: [...s3cmd, "put", "--disable-multipart", at("over"), `s3://${bucket}/x`],
          fails: /QuotaExceeded/,
        },
      ],
    },
    {
      client: "s3fs",
      env: { CURL_CA_BUNDLE: caFile },
      steps: [
        {
          what: "mount",
          command: [
            ...[
              tools.s3fs,
              bucket,
              at("mount"),
              "-o",
              `url=${endpoint},use_path_request_style,endpoint=garage`,
            ],
            ...["-o", `passwd_file=${at("s3fs.passwd")},multipart_size=8,parallel_count=2`],
          ],
        },
        { what: "mkdir", command: ["mkdir", "-p", at("mount/data/a b")] },
        { what: "cp in", command: ["cp", at("small"), at("mount/data/a b/ü+.txt")] },
        { what: "cp in, in parts", command: ["cp", at("big"), at("mount/data/big")] },
        { what: "mv", command: ["mv", at("mount/data/big"), at("mount/data/moved")] },
        { what: "chmod", command: ["chmod", "600", at("mount/data/moved")] },
        { what: "read", command: ["cmp", at("big"), at("mount/data/moved")] },
        { what: "ls", command: ["ls", at("mount/data/a b")], says: /ü\+\.txt/ },
        { what: "the quota", command: ["cp", at("over"), at("mount/over")], fails: /./ },
        { what: "rm", command: ["rm", "-r", at("mount/data")] },
        { what: "umount", command: ["fusermount3", "-u", at("mount")] },
      ],
    },
    {
      client: "rclone",
      env: {
        ...{
          RCLONE_CONFIG: at("rclone.config"),
          RCLONE_CONFIG_DOOR_TYPE: "s3",
          RCLONE_CONFIG_DOOR_PROVIDER: "Other",
        },
        ...{
          RCLONE_CONFIG_DOOR_ENDPOINT: endpoint,
          RCLONE_CONFIG_DOOR_REGION: "garage",
          RCLONE_CONFIG_DOOR_ENV_AUTH: "true",
        },
        ...{ RCLONE_S3_UPLOAD_CUTOFF: "8M", RCLONE_S3_CHUNK_SIZE: "8M", ...keys },
      },
      steps: [
        { what: "lsd", command: [...rclone, "lsd", "door:"], says: new RegExp(bucket) },
        { what: "mkdir of the own bucket", command: [...rclone, "mkdir", `door:${bucket}`] },
        {
          what: "copyto",
          command: [...rclone, "copyto", at("small"), `door:${bucket}/data/${ODD}`],
        },
        {
          what: "copyto in parts",
          command: [...rclone, "copyto", at("big"), `door:${bucket}/data/big`],
        },
        {
          what: "check",
          command: [
            ...rclone,
            "check",
            "--download",
            at("tree"),
            `door:${bucket}/data`,
            "--one-way",
          ],
        },
        {
          what: "copyto within",
          command: [...rclone, "copyto", `door:${bucket}/data/big`, `door:${bucket}/data/copy`],
        },
        {
          what: "cat",
          command: [...rclone, "cat", `door:${bucket}/data/${ODD}`],
          says: /^hello$/m,
        },
        {
          what: "ls",
          command: [...rclone, "lsf", "-R", `door:${bucket}`],
          says: /data\/a b\/ü\+\.txt/,
        },
        { what: "delete", command: [...rclone, "delete", `door:${bucket}/data`] },
        {
          what: "a wrong secret",
          command: [
            ...wrong,
            ...rclone,
            "copyto",
            "--s3-no-head",
            "--s3-no-check-bucket",
            at("big"),
            `door:${bucket}/x`,
          ],
          fails: /SignatureDoesNotMatch|Forbidden/,
        },
        {
          what: "the quota",
          command: [
            ...rclone,
            "--s3-upload-cutoff",
            "100M",
            "copyto",
            at("over"),
            `door:${bucket}/x`,
          ],
          fails: /QuotaExceeded/,
        },
      ],
    },
    {
      client: "s5cmd",
      env: { ...ofAws, AWS_REGION: "garage" },
      steps: [
        { what: "ls", command: [...s5cmd, "ls"], says: new RegExp(bucket) },
        { what: "cp up", command: [...s5cmd, "cp", at("small"), `s3://${bucket}/data/${ODD}`] },
        {
          what: "cp up in parts",
          command: [...s5cmd, "cp", "--part-size", "8", at("big"), `s3://${bucket}/data/big`],
        },
        {
          what: "cp down",
          command: [...s5cmd, "cp", "--part-size", "8", `s3://${bucket}/data/big`, at("back")],
        },
        same("big", "back"),
        {
          what: "cp within",
          command: [...s5cmd, "cp", `s3://${bucket}/data/big`, `s3://${bucket}/data/copy`],
        },
        {
          what: "ls of all",
          command: [...s5cmd, "ls", `s3://${bucket}/*`],
          says: /data\/a b\/ü\+\.txt/,
        },
        { what: "rm of all", command: [...s5cmd, "rm", `s3://${bucket}/data/*`] },
        {
          what: "a wrong secret",
          command: [...wrong, ...s5cmd, "cp", at("big"), `s3://${bucket}/x`],
          fails: /SignatureDoesNotMatch/,
        },
        {
          what: "the quota",
          command: [...s5cmd, "cp", "--part-size", "100", at("over"), `s3://${bucket}/x`],
          fails: /QuotaExceeded/,
        },
      ],
    },
    {
      client: "mc",
      env: { SSL_CERT_FILE: caFile, MC_HOST_door: mcHost(secretAccessKey).replace(/^[^=]*=/, "") },
      steps: [
        { what: "ls", command: [...mc, "ls", "door"], says: new RegExp(bucket) },
        {
          what: "mb of the own bucket",
          command: [...mc, "mb", "--ignore-existing", `door/${bucket}`],
        },
        { what: "cp up", command: [...mc, "cp", at("small"), `door/${bucket}/data/${ODD}`] },
        { what: "cp up in parts", command: [...mc, "cp", at("big"), `door/${bucket}/data/big`] },
        { what: "cp down", command: [...mc, "cp", `door/${bucket}/data/big`, at("back")] },
        same("big", "back"),
        {
          what: "cp within",
          command: [...mc, "cp", `door/${bucket}/data/big`, `door/${bucket}/data/copy`],
        },
        {
          what: "stat",
          command: [...mc, "stat", `door/${bucket}/data/copy`],
          says: /Size\s*: 20 MiB/,
        },
        {
          what: "tag set",
          command: [...mc, "tag", "set", `door/${bucket}/data/copy`, "of=somebody"],
        },
        {
          what: "tag list",
          command: [...mc, "tag", "list", `door/${bucket}/data/copy`],
          says: /of\s*: somebody/,
        },
        {
          what: "mirror",
          command: [...mc, "mirror", at("tree"), `door/${bucket}/mirrored`],
        },
        {
          what: "diff",
          command: [...mc, "diff", at("tree"), `door/${bucket}/mirrored`],
        },
        { what: "cat", command: [...mc, "cat", `door/${bucket}/data/${ODD}`], says: /^hello$/m },
        {
          what: "ls of all",
          command: [...mc, "ls", "--recursive", `door/${bucket}`],
          says: /data\/a b\/ü\+\.txt/,
        },
        {
          what: "rm of all",
          command: [...mc, "rm", "--recursive", "--force", `door/${bucket}/data`],
        },
        {
          what: "a wrong secret",
          command: ["env", mcHost("x".repeat(40)), ...mc, "cp", at("big"), `door/${bucket}/x`],
          fails: /signature/i,
        },
        {
          what: "the quota",
          command: [...mc, "cp", "--disable-multipart", at("over"), `door/${bucket}/x`],
          fails: /quota/i,
        },
      ],
    },
    {
      client: "pyarrow",
      env: { ...ofAws, SSL_CERT_FILE: caFile, PYTHONPATH: tools.pythonClients },
      steps: [
        {
          what: "its scenario",
          command: ["python3", join(here, "arrow_scenario.py"), endpoint, bucket],
          says: /^parts\ncopy\ndelete$/m,
        },
      ],
    },
    {
      client: "minio (Python)",
      env: { ...ofAws, PYTHONPATH: tools.pythonClients },
      steps: [
        {
          what: "its scenario",
          command: [
            ...["python3", join(here, "minio_scenario.py"), `localhost:${port}`, bucket, at("big")],
          ],
          says: /^buckets\ncopy\nparts\ndelete$/m,
        },
      ],
    },
    {
      client: "minio (JavaScript)",
      env: { ...keys, NODE_EXTRA_CA_CERTS: caFile },
      steps: [
        {
          what: "its scenario",
          command: [
            process.execPath,
            join(here, "minio_scenario.mjs"),
            tools.minio,
            String(port),
            bucket,
            at("big"),
            over,
          ],
          says: /^buckets\nown-bucket\nsmall\nparts\ncopy\ndelete\nrefusals$/m,
        },
      ],
    },
  ];
}

/** `login` is what `appliance image login` prints; `certs` a folder with the registry's CA. */
export function registryScenarios(
  tools: Tools,
  {
    host,
    folder,
    certs,
    login,
  }: { host: string; folder: string; certs: string; login: { username: string; password: string } },
): Scenario[] {
  const image = `${host}/resontech/one`;
  const credentials = `${login.username}:${login.password}`;
  const docker = (name: string): string => `docker://${image}:${name}`;
  const skopeo = [tools.skopeo, "--override-os", "linux"];
  const ofSkopeo = ["--cert-dir", certs, "--creds", credentials];
  return [
    {
      client: "skopeo",
      env: {},
      steps: [
        {
          what: "inspect",
          command: [...skopeo, "inspect", ...ofSkopeo, docker("1.2.3")],
          says: /"Architecture": "amd64"/,
        },
        {
          what: "copy out",
          command: [
            ...skopeo,
            "copy",
            "--src-cert-dir",
            certs,
            "--src-creds",
            credentials,
            docker("1.2.3"),
            `oci:${join(folder, "oci")}`,
          ],
        },
        {
          what: "a push",
          command: [
            ...skopeo,
            "copy",
            "--dest-cert-dir",
            certs,
            "--dest-creds",
            credentials,
            `oci:${join(folder, "oci")}`,
            docker("mine"),
          ],
          fails: /read-only/,
        },
        {
          what: "a wrong password",
          command: [...skopeo, "inspect", "--cert-dir", certs, "--creds", "x:y", docker("1.2.3")],
          fails: /not valid/,
        },
      ],
    },
    {
      client: "crane",
      env: { SSL_CERT_FILE: join(certs, "ca.crt"), DOCKER_CONFIG: folder },
      steps: [
        {
          what: "auth login",
          command: [tools.crane, "auth", "login", host, "-u", login.username, "-p", login.password],
        },
        {
          what: "manifest",
          command: [tools.crane, "manifest", `${image}:1.2.3`],
          says: /"schemaVersion":2/,
        },
        {
          what: "validate",
          command: [tools.crane, "validate", "--remote", `${image}:1.2.3`],
          says: /PASS/,
        },
        {
          what: "pull",
          command: [tools.crane, "pull", `${image}:1.2.3`, join(folder, "image.tar")],
        },
        {
          what: "a push",
          command: [tools.crane, "push", join(folder, "image.tar"), `${image}:mine`],
          fails: /read-only/,
        },
      ],
    },
  ];
}

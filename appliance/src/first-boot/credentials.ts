import type { ApplianceConfig } from "@resontech/contracts/appliance-config";

/** Of the first researcher, with those of the administrator, who has no key. */
export type FirstCredentials = {
  administrator: { username: string; firstPassword: string };
  username: string;
  platformKey: string;
  /** For the first sign-in, which asks for another one. */
  firstPassword: string;
  bucketAlias: string;
  accessKeyId: string;
  secretAccessKey: string;
};

/**
 * `data/credentials.txt`: what the client's manual says a sovereign install prints. The quickstart block is ready to paste into a shell; the
 * names that the client itself reads are RESON_API_KEY, SSL_CERT_FILE (httpx) and AWS_CA_BUNDLE (boto3); RESON_S3_KEY and RESON_S3_SECRET are what
 * the public examples read. rclone has a block of its own, with the certificate by its own option: Debian's 1.60 ends in a crash where
 * AWS_CA_BUNDLE is set.
 */
export function renderCredentials(
  config: ApplianceConfig,
  first: FirstCredentials,
  rootCert: string,
): string {
  const api = `https://${config.name}:${config.ports.api}`;
  const s3 = `https://${config.name}:${config.ports.s3}`;
  return `# ResonTech sovereign appliance: credentials of its first two people. Keep this file to yourself; each secret stands only here.

# The administrator, in the browser. The password is good for one sign-in, which asks for a new one and for a second factor.
# Who runs the appliance never sees data: there is no key and no S3 key pair for this name.
[sign-in]
url = ${api}/
username = ${first.administrator.username}
first_password = ${first.administrator.firstPassword}

# The researcher, in the browser.
[sign-in of the researcher]
url = ${api}/
username = ${first.username}
first_password = ${first.firstPassword}

# All that follows is the researcher's.
[api]
base_url = ${api}
platform_api_key = ${first.platformKey}

[s3]
endpoint = ${s3}
region = garage
bucket = ${first.bucketAlias}
access_key_id = ${first.accessKeyId}
secret_access_key = ${first.secretAccessKey}

[sdk quickstart]
export RESON_API_KEY='${first.platformKey}'
export RESON_BASE_URL='${api}'
export RESON_DASHBOARD_URL='${api}'
export RESON_S3_ENDPOINT='${s3}'
export RESON_S3_REGION='garage'
export RESON_S3_BUCKET='${first.bucketAlias}'
export RESON_S3_ACCESS_KEY_ID='${first.accessKeyId}'
export RESON_S3_SECRET_ACCESS_KEY='${first.secretAccessKey}'
export RESON_S3_KEY='${first.accessKeyId}'
export RESON_S3_SECRET='${first.secretAccessKey}'
export SSL_CERT_FILE='${rootCert}'
export AWS_CA_BUNDLE='${rootCert}'

# rclone, in a shell of its own: \`rclone lsd reson:${first.bucketAlias}\`
[rclone]
unset AWS_CA_BUNDLE
export RCLONE_CA_CERT='${rootCert}'
export RCLONE_CONFIG_RESON_TYPE='s3'
export RCLONE_CONFIG_RESON_PROVIDER='Other'
export RCLONE_CONFIG_RESON_ENDPOINT='${s3}'
export RCLONE_CONFIG_RESON_REGION='garage'
export RCLONE_CONFIG_RESON_ACCESS_KEY_ID='${first.accessKeyId}'
export RCLONE_CONFIG_RESON_SECRET_ACCESS_KEY='${first.secretAccessKey}'
export RCLONE_CONFIG_RESON_FORCE_PATH_STYLE='true'
export RCLONE_S3_NO_CHECK_BUCKET='true'
`;
}

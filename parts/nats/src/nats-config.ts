export type NatsSettings = {
  listen: string;
  certFile: string;
  keyFile: string;
  caFile: string;
  account: string;
  /** Public NKey of the coordinator's user. */
  coordinatorKey: string;
  /** Public NKey of the account that signs auth-callout answers. */
  issuerKey: string;
};

/**
 * The engine's configuration: mutual TLS for everybody, one account, and every client but the coordinator admitted by the coordinator alone
 * (auth callout: https://docs.nats.io/running-a-nats-service/configuration/securing_nats/auth_callout). While it is away nobody new gets in.
 */
export function renderNatsConfig(settings: NatsSettings): string {
  const config = {
    listen: settings.listen,
    // A desired set may hold 10,000 inputs and an upload a thousand part URLs.
    max_payload: 8 * 1024 * 1024,
    max_pending: 64 * 1024 * 1024,
    logtime: true,
    tls: {
      cert_file: settings.certFile,
      key_file: settings.keyFile,
      ca_file: settings.caFile,
      verify: true,
      timeout: 5,
    },
    accounts: { [settings.account]: { users: [{ nkey: settings.coordinatorKey }] }, SYS: {} },
    system_account: "SYS",
    authorization: {
      timeout: 5,
      auth_callout: {
        issuer: settings.issuerKey,
        account: settings.account,
        auth_users: [settings.coordinatorKey],
      },
    },
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Configuration of the registry engine (distribution): https://distribution.github.io/distribution/about/configuration/ */
export type RegistrySettings = {
  /** `address:port` of the perimeter. */
  listen: string;
  /** `https://<name>:<port>`, as clients see it. */
  publicUrl: string;
  storageDir: string;
  certFile: string;
  keyFile: string;
  token: { realm: string; service: string; issuer: string; rootCertBundle: string };
};

/** The engine's YAML. JSON is YAML, so no writer of our own is needed. Read-only: images arrive by `linkRelease` alone. */
export function renderRegistryConfig(settings: RegistrySettings): string {
  const config = {
    version: 0.1,
    log: { level: "warn", accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: settings.storageDir },
      delete: { enabled: false },
      maintenance: { readonly: { enabled: true }, uploadpurging: { enabled: false } },
      redirect: { disable: true },
    },
    http: {
      addr: settings.listen,
      host: settings.publicUrl,
      tls: { certificate: settings.certFile, key: settings.keyFile, minimumtls: "tls1.2" },
      headers: { "X-Content-Type-Options": ["nosniff"] },
    },
    auth: {
      token: {
        realm: settings.token.realm,
        service: settings.token.service,
        issuer: settings.token.issuer,
        rootcertbundle: settings.token.rootCertBundle,
        autoredirect: false,
      },
    },
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

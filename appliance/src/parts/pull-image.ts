import type Docker from "dockerode";

export type RegistryLogin = { username: string; password: string };

/** The engine said why it could not fetch the image. */
export class PullFailedError extends Error {
  readonly code = "pull_failed";
}

/** Pulls by digest from the local registry unless the engine has the image. @throws PullFailedError */
export async function pullImage(
  engine: Docker,
  reference: string,
  login: () => Promise<RegistryLogin>,
): Promise<void> {
  try {
    await engine.getImage(reference).inspect();
    return;
  } catch (error) {
    if (!(error instanceof Error && "statusCode" in error && error.statusCode === 404)) throw error;
  }
  const { username, password } = await login();
  const stream: NodeJS.ReadableStream = await engine.pull(reference, {
    authconfig: { username, password, serveraddress: reference.split("/")[0] ?? "" },
  });
  let refusal: string | null = null;
  await new Promise<void>((resolve, reject) => {
    engine.modem.followProgress(
      stream,
      (error: Error | null) => (error === null ? resolve() : reject(error)),
      (report: { error?: unknown }) => {
        // The answer is a 200 that streams; a failure is one of its lines.
        if (typeof report.error === "string") refusal = report.error;
      },
    );
  });
  if (refusal !== null) throw new PullFailedError(`${reference}: ${String(refusal)}`);
}

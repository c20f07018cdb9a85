import type Docker from "dockerode";

export type RegistryLogin = { username: string; password: string };

/** Pulls by digest from the local registry unless the engine has the image. */
export async function pullImage(engine: Docker, reference: string, login: () => Promise<RegistryLogin>): Promise<void> {
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
  await new Promise<void>((resolve, reject) => {
    engine.modem.followProgress(stream, (error: Error | null) => (error === null ? resolve() : reject(error)));
  });
}

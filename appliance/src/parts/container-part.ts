/** A part that is a container of the release's images: pulled from the registry of this site, watched as the process that it is. */
import type Docker from "dockerode";
import { type ContainerPart, userOf } from "@resontech/frame/define-part";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import { containerName, removeContainer, startContainer } from "./container-runner.ts";
import { imageReference, type PartContext } from "./context.ts";
import type { Part } from "./part.ts";
import { partFactsOf } from "./part-facts-of.ts";
import { endLeftover } from "./process-identity.ts";
import { pullImage, type RegistryLogin } from "./pull-image.ts";

/** By which containers are run, and who may pull their images. */
export type ContainerEngine = {
  engine: Docker;
  login: (repository: string) => Promise<RegistryLogin>;
};

export function containerPart(
  context: PartContext,
  { engine, login }: ContainerEngine,
  declaration: ContainerPart,
): Pick<Part, "endLeftover" | "prepare" | "start"> {
  const { config, layout } = context;
  const { name, image: repository, stop } = declaration;
  const container = containerName(layout, name);
  const pidFile = layout.run(`${name}.pid`);
  const stopSignal = stop.signal ?? "SIGTERM";
  return {
    endLeftover: () =>
      endLeftover(pidFile, { graceMs: stop.graceMs, stopSignal, wholeGroup: false }),
    prepare: () => removeContainer(engine, container),
    start: async () => {
      const image = imageReference(context, repository);
      await pullImage(engine, image, () => login(repository));
      const built = declaration.container(partFactsOf(context));
      const user = `${userOf(config, declaration)}:${userOf(config, declaration)}`;
      // Programs look up the user that they run as: Podman adds it to the image's own file, Docker does not.
      const passwd = layout.run(`${name}.passwd`);
      writeOwned(passwd, `${name}:x:${user}::/tmp:/bin/false\n`, ROOT, 0o644);
      return await startContainer(engine, {
        ...{ ...built, user, image, name: container, stopSignal },
        binds: [...built.binds, `${passwd}:/etc/passwd:ro`],
        instance: layout.instance,
        engineKind: config.containerEngine.kind,
        logFile: layout.log(`${name}.log`),
        pidFile,
      });
    },
  };
}

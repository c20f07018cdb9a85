/** The body of a submission from a workspace of `fill_workspaces.py`, by its name. */
export function taskOf(name: string): Record<string, unknown> {
  return {
    name,
    shardsDirPath: `/jobs/${name}/shards`,
    trainingScriptsFolderPath: `/jobs/${name}/scripts`,
    trainingConfigFolderPath: `/jobs/${name}/configs`,
    trainingRequirementsFolderPath: `/jobs/${name}/requirements`,
    autoSelectWorkers: true,
    gpuModels: ["cpu"],
    maxPricePerGpuHourCents: 100,
  };
}

/** Where what makes one backup lies on its target. */
export const manifestPath = (id: string): string => `backups/${id}/manifest.json`;
/** Names of the objects that it needs. */
export const namesPath = (id: string): string => `backups/${id}/objects.names`;
/** A part of it. */
export const partPath = (id: string, name: string): string => `backups/${id}/${name}.gz.age`;

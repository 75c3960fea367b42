import { dirname, sep } from 'node:path'

/** Where the embedded default keeps its data: absolute paths. */
export interface EmbeddedPlaces {
  readonly dataDir: string
  /** The database file. */
  readonly database: string
  /** The folder of the object store. */
  readonly objects: string
}

/**
 * Why a folder cannot hold backups: copies among the objects would be lost with them, and a folder around the data would
 * be copied into itself. `undefined` if it can.
 */
export function misplacementOf(
  directory: string,
  { dataDir, database, objects }: EmbeddedPlaces,
): 'among_objects' | 'around_data' | undefined {
  if (isWithin(directory, objects)) return 'among_objects'
  const places = [dataDir, dirname(database), objects]
  return places.some((place) => isWithin(place, directory)) ? 'around_data' : undefined
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer === sep ? sep : outer + sep)
}

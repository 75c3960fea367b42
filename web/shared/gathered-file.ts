/** A file that the user has chosen or dropped, with the folders that were chosen with it. */
export interface GatheredFile {
  readonly content: Blob
  /** Relative to where it was chosen, with `/`. An empty folder ends in one, and has no content. */
  readonly path: string
}

/** The name of a gathered file in a repository: the marker of its folder if it is an empty one. */
export function gatheredName(path: string): string {
  return path.replace(/^\//, '').replace(UNNAMEABLE, '_').toWellFormed()
}

/** Characters that file names must not contain. */
// oxlint-disable-next-line no-control-regex
const UNNAMEABLE = /[\\\u0000-\u001f\u007f]/g

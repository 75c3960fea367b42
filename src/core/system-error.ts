/** Whether Node.js reports the error of a system call with one of these codes. */
export function hasCode(error: unknown, codes: ReadonlySet<unknown>): boolean {
  return error instanceof Error && 'code' in error && codes.has(error.code)
}

/** No such file or folder. */
export const MISSING: ReadonlySet<unknown> = new Set(['ENOENT'])

/** Also a path that leads through a file. */
export const ABSENT: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR'])

export const TAKEN: ReadonlySet<unknown> = new Set(['EEXIST'])

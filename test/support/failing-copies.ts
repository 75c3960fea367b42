import type { Copies } from '../../src/cli/command.ts'

/** Copies in S3 for tests that have no S3: each use rejects with `error`. */
export function failingCopies(error: Error): Copies {
  const fail = async (): Promise<never> => {
    throw error
  }
  return { backUp: fail, check: fail, restoreFrom: fail, send: fail, restore: fail, pack: fail }
}

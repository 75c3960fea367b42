import type { DatabaseConfig } from '../config/parsers.ts'
import { inReserve } from '../database/sqlite/disk-reserve.ts'

export const RESERVE_IN_USE = 'the disk of the database is full; its reserve is in use'

type Start = <T>(step: () => Promise<T>) => Promise<T>

/** What runs the steps of a start: in the reserve of the embedded database, if they find the disk full. */
export function startIn(database: DatabaseConfig, onRelease: () => void): Start {
  if (database.kind !== 'sqlite') return startAnywhere
  const { file } = database
  return (step) => inReserve({ file, onRelease }, step)
}

export const startAnywhere: Start = (step) => step()

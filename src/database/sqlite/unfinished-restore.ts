import { existsSync } from 'node:fs'

/** While this file exists, neither the service nor a command opens the database. */
export function unfinishedRestoreOf(database: string): string {
  return `${database}.restore`
}

/** Throws if a restore of the database was interrupted: the service would start on a part of it, or on nothing. */
export function assertRestored(database: string): void {
  const unfinished = unfinishedRestoreOf(database)
  if (!existsSync(unfinished)) return
  throw new Error(
    `A restore is unfinished: ${unfinished} exists. Run the command "restore" again, with the same backup.`,
  )
}

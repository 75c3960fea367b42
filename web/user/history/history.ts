import { type Client, isProblem } from '../../../packages/js/src/client.ts'
import { type Http, segment } from '../../../packages/js/src/http/http.ts'
import type { CapacityFigures } from '../capacity-figures.ts'
import type { FileList } from '../files/file-list.ts'
import { createPastVersions, type PastVersions } from './past-versions.ts'

export interface HistoryOptions {
  /** For what is shown, and for what the user does. */
  readonly reader: Pick<Client, 'history'>
  readonly client: Pick<Client, 'history'>
  readonly http: Http
  readonly list: FileList
  readonly capacity: CapacityFigures
}

export interface RestoreRequest {
  readonly version: string
  /** Whether to replace a file that has the name. */
  readonly overwrite: boolean
}

/** What the user has replaced or deleted. Changes reject with a `CloudRepositoryError`. */
export interface History extends PastVersions {
  /** Whether the version can be restored: `false` only if the service says so. */
  canRestore(version: string): Promise<boolean>
  restore(request: RestoreRequest): Promise<void>
  /** The path of a version. */
  readonly pathOf: (version: string) => string
  /** Deletes a version for good. */
  purge(version: string): Promise<void>
  purgeAll(): Promise<void>
}

export function createHistory(options: HistoryOptions): History {
  const { reader, client, http, list, capacity } = options
  const past = createPastVersions(reader.history)

  function forget(version?: string): void {
    past.forget(version)
    capacity.refresh()
  }

  return {
    ...past,
    pathOf: pastPath,

    async canRestore(version) {
      try {
        await http.call({ method: 'HEAD', path: pastPath(version) })
        return true
      } catch (error) {
        return !(isProblem(error) && (error.status === 404 || error.status === 410))
      }
    },

    async restore({ version, overwrite }) {
      const restored = await client.history.restore(version, { overwrite })
      // A token that may not read the file is not told enough of it, and sees no list.
      if ('visibility' in restored) list.put(restored)
      forget(version)
    },

    async purge(version) {
      await client.history.purge(version)
      forget(version)
    },

    async purgeAll() {
      await client.history.purgeAll()
      forget()
    },
  }
}

function pastPath(version: string): string {
  return `users/me/history/${segment(version)}`
}

import { type Api, ProblemError } from '../../shared/api.ts'
import type { FileEntry } from '../../shared/model.ts'
import type { CapacityFigures } from '../capacity-figures.ts'
import type { FileList } from '../files/file-list.ts'
import { createPastVersions, HISTORY_PATH, type PastVersions } from './past-versions.ts'

export interface HistoryOptions {
  readonly api: Api
  readonly list: FileList
  readonly capacity: CapacityFigures
}

export interface RestoreRequest {
  readonly version: string
  /** Whether to replace a file that has the name. */
  readonly overwrite: boolean
}

/** What the user has replaced or deleted. Changes reject with a `ProblemError` or a `ConnectionError`. */
export interface History extends PastVersions {
  /** Whether the version can be restored: `false` only if the service says so. */
  canRestore(version: string): Promise<boolean>
  restore(request: RestoreRequest): Promise<void>
  /** Deletes a version for good. */
  purge(version: string): Promise<void>
  purgeAll(): Promise<void>
}

export function createHistory({ api, list, capacity }: HistoryOptions): History {
  const past = createPastVersions(api)

  function forget(version?: string): void {
    past.forget(version)
    capacity.refresh()
  }

  return {
    ...past,

    async canRestore(version) {
      try {
        await api.call(pastPath(version), { method: 'HEAD' })
        return true
      } catch (error) {
        return !(error instanceof ProblemError && [404, 410].includes(error.status))
      }
    },

    async restore({ version, overwrite }) {
      const call = { method: 'POST', json: { overwrite } } as const
      list.put(await api.call<FileEntry>(`${pastPath(version)}/restore`, call))
      forget(version)
    },

    async purge(version) {
      await api.call(pastPath(version), { method: 'DELETE' })
      forget(version)
    },

    async purgeAll() {
      await api.call(HISTORY_PATH, { method: 'DELETE' })
      forget()
    },
  }
}

/** The path of a version. */
export function pastPath(version: string): string {
  return `${HISTORY_PATH}/${encodeURIComponent(version)}`
}

import { type ReadonlySignal, signal } from '@preact/signals'
import { type Api, ProblemError } from '../../shared/api.ts'
import type { UploadEntry, UploadPage } from '../../shared/model.ts'

export interface UnfinishedUploads {
  /** As last read, oldest first. */
  readonly uploads: ReadonlySignal<readonly UploadEntry[]>
  read(): Promise<readonly UploadEntry[]>
  /** Reads them in the background, and ignores failures. */
  refresh(): void
  /** Forgets them, and ignores the result of a read in progress. */
  clear(): void
  /**
   * One of them, even if it has been finished since. Retries until there is a response; rejects with a `ProblemError`.
   */
  find(id: string): Promise<UploadEntry>
  /** Stores the file of a complete upload. Rejects with a `ProblemError` or a `ConnectionError`. */
  finish(id: string): Promise<UploadEntry>
  /** Cancels an upload, unless it has ended already. Rejects with a `ProblemError` or a `ConnectionError`. */
  cancel(id: string): Promise<void>
}

export const UPLOADS_PATH = 'users/me/uploads'

export const uploadPath = (id: string): string => `${UPLOADS_PATH}/${encodeURIComponent(id)}`

const TUS = { 'tus-resumable': '1.0.0' }

/** The user's resumable uploads, as the service reports them. The browser stores nothing about them. */
export function createUnfinishedUploads(api: Api): UnfinishedUploads {
  const uploads = signal<readonly UploadEntry[]>([])
  let reading = 0

  async function read(): Promise<readonly UploadEntry[]> {
    const mine = (reading += 1)
    const found: UploadEntry[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const query = new URLSearchParams({ limit: '1000', ...(cursor !== '' && { cursor }) })
      const page: UploadPage = await api.read<UploadPage>(`${UPLOADS_PATH}?${query.toString()}`)
      found.push(...page.uploads)
      cursor = page.next_cursor
    }
    if (mine === reading) uploads.value = found
    return found
  }

  const find = (id: string): Promise<UploadEntry> => api.read<UploadEntry>(uploadPath(id))

  return {
    uploads,
    read,
    find,

    refresh() {
      // If the user is signed out, other requests show that.
      read().catch(() => undefined)
    },

    clear() {
      reading += 1
      uploads.value = []
    },

    async finish(id) {
      try {
        await api.call(uploadPath(id), { method: 'HEAD', headers: TUS })
      } catch (error) {
        throw await explained(error, () => find(id))
      }
      return await find(id)
    },

    async cancel(id) {
      uploads.value = uploads.value.filter((upload) => upload.upload_id !== id)
      const call = { method: 'DELETE', headers: TUS, keepalive: true } as const
      await api.call(uploadPath(id), call).catch((error: unknown) => {
        if (!(error instanceof ProblemError && isEnded(error))) throw error
      })
    },
  }
}

function isEnded({ code }: ProblemError): boolean {
  return code === 'not_found' || code === 'upload_gone'
}

/** A response to HEAD has no body, so this reads the reason of a refusal from the upload. */
export async function explained(
  error: unknown,
  find: () => Promise<UploadEntry>,
): Promise<unknown> {
  if (!(error instanceof ProblemError) || error.isExplained) return error
  try {
    const { refusal } = await find()
    return refusal === null ? error : new ProblemError(error.status, { code: refusal }, null)
  } catch (reason) {
    return reason
  }
}

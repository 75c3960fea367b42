import { type ReadonlySignal, signal } from '@preact/signals'
import { type Client, isProblem } from '../../../packages/js/src/client.ts'
import { bytesSource } from '../../../packages/js/src/files/source.ts'
import { type Http, segment } from '../../../packages/js/src/http/http.ts'
import type { UploadEntry } from '../../shared/model.ts'

export interface UnfinishedUploads {
  /** As last read, oldest first. */
  readonly uploads: ReadonlySignal<readonly UploadEntry[]>
  read(): Promise<readonly UploadEntry[]>
  /** Reads them in the background, and ignores failures. */
  refresh(): void
  /** Forgets them, and ignores the result of a read in progress. */
  clear(): void
  /** Stores the file of a complete upload. Rejects with a `CloudRepositoryError`. */
  finish(upload: UploadEntry): Promise<UploadEntry>
  /** Cancels an upload, unless it has ended already. Rejects with a `CloudRepositoryError`. */
  cancel(id: string): Promise<void>
}

export interface UnfinishedUploadsOptions {
  /** For what is shown, and for what the user does. */
  readonly reader: Pick<Client, 'uploads'>
  readonly client: Pick<Client, 'uploads'>
  readonly http: Http
}

/** The user's resumable uploads, as the service reports them. The browser stores nothing about them. */
export function createUnfinishedUploads(options: UnfinishedUploadsOptions): UnfinishedUploads {
  const { reader, client, http } = options
  const uploads = signal<readonly UploadEntry[]>([])
  let reading = 0

  async function read(): Promise<readonly UploadEntry[]> {
    const mine = (reading += 1)
    const found = await Array.fromAsync(reader.uploads.list({ limit: 1000 }))
    if (mine === reading) uploads.value = found
    return found
  }

  return {
    uploads,
    read,

    refresh() {
      // If the user is signed out, other requests show that.
      read().catch(() => undefined)
    },

    clear() {
      reading += 1
      uploads.value = []
    },

    async finish({ upload_id: id, offset }) {
      // An append without content: its response tells why the file is not stored.
      const headers = {
        'tus-resumable': '1.0.0',
        'content-type': 'application/offset+octet-stream',
        'upload-offset': String(offset),
      }
      const content = { source: bytesSource(new Uint8Array()), start: 0, end: 0 }
      const path = `users/me/uploads/${segment(id)}`
      await http.call({ method: 'PATCH', path, headers, content })
      return await reader.uploads.get(id)
    },

    async cancel(id) {
      uploads.value = uploads.value.filter((upload) => upload.upload_id !== id)
      await client.uploads.cancel(id).catch((error: unknown) => {
        if (!isProblem(error, 'not_found', 'upload_gone')) throw error
      })
    },
  }
}

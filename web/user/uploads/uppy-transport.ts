import DropTarget from '@uppy/drop-target'
import { Uppy } from '@uppy/core'
import XHRUpload from '@uppy/xhr-upload'
import type { FileEntry, Figures } from '../../shared/model.ts'
import type { GatheredFile } from './upload-item.ts'
import { sendFile, SILENT } from '../../shared/uploads/uppy-upload.ts'

export interface UploadReply extends FileEntry {
  readonly capacity: Figures
}

export interface SenderOptions {
  /** Files can be dropped here. */
  readonly target: HTMLElement
  readonly onDropped: (files: readonly GatheredFile[]) => void
}

export interface Sending {
  readonly content: Blob
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly onProgress: (sent: number) => void
}

export interface Sender {
  /**
   * Sends a file. Rejects with a `ProblemError`, a `ConnectionError`, or the reason of `signal`. Several calls can run
   * at once.
   */
  send(sending: Sending, signal: AbortSignal): Promise<UploadReply>
}

type Meta = { readonly relativePath?: string | null }

type Body = Record<string, never>

const SOURCE = 'queue'

/**
 * Uses Uppy to read dropped folders, and to send files with progress events, streamed from the disk. `queue.ts` decides
 * which file is sent when, so Uppy holds only the uploads in progress.
 */
export function createSender({ target, onDropped }: SenderOptions): Sender {
  const uppy = new Uppy<Meta, Body>({ logger: SILENT })
  const sendings = new Map<string, Sending>()
  let count = 0
  const sendingOf = ({ id }: { readonly id: string }) => sendings.get(id)
  uppy.use(DropTarget, { target })
  uppy.use(XHRUpload, {
    method: 'PUT',
    formData: false,
    limit: 0,
    endpoint: (file) => (Array.isArray(file) ? '' : (sendingOf(file)?.url ?? '')),
    headers: (file) => ({ ...sendingOf(file)?.headers }),
    shouldRetry: () => false,
  })
  uppy.on('files-added', (files) => {
    const dropped = files.filter(({ source }) => source !== SOURCE)
    if (dropped.length === 0) return
    uppy.removeFiles(dropped.map(({ id }) => id))
    onDropped(
      dropped.flatMap(({ data, name, meta }) =>
        data instanceof Blob ? [{ content: data, path: meta.relativePath ?? name }] : [],
      ),
    )
  })
  return {
    async send(sending, signal) {
      const { content, url, onProgress } = sending
      const id = uppy.addFile({
        source: SOURCE,
        // Unique: the same content can be sent under two names. Pages over plain HTTP have no `randomUUID`.
        name: `${url} ${(count += 1)}`,
        type: content.type,
        data: content,
      })
      sendings.set(id, sending)
      try {
        return (await sendFile({ uppy, id, onProgress, signal })) as UploadReply
      } finally {
        sendings.delete(id)
      }
    },
  }
}

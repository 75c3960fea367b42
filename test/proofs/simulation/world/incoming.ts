import { Readable } from 'node:stream'
import { AppError } from '../../../../src/core/errors.ts'
import type { IncomingFile } from '../../../../src/core/uploads/store-content.ts'
import type { Operation } from '../plan/operation.ts'
import { CLIENT_IDLE_MS } from '../plan/parameters.ts'
import type { UploadAction } from '../plan/plan.ts'
import { latency, type Seam } from './seam.ts'

/** What may follow the file in the form, when the client says more than the file's size. */
const FOLLOWING_BYTES = 20

/** The request of an upload as its client sends it: every chunk, and the end of the form, is an event. */
export function incomingOf(
  { timeline, random }: Pick<Seam, 'timeline' | 'random'>,
  { operation, action }: { readonly operation: Operation; readonly action: UploadAction },
): IncomingFile {
  const { client } = action
  const bytes = operation.content?.bytes ?? Buffer.alloc(0)
  const middle = random.below(bytes.length + 1)
  const pieces = [bytes.subarray(0, middle), bytes.subarray(middle)].filter(
    (piece) => piece.length > 0,
  )
  const breaksAt =
    client === 'breaks off' || client === 'stalls' ? random.below(pieces.length + 1) : -1
  let sent = 0

  function send(): void {
    if (sent === breaksAt) content.destroy(broken(client))
    else content.push(pieces[sent] ?? null)
    sent += 1
  }

  const content = new Readable({
    read() {
      const isStalled = client === 'stalls' && sent === breaksAt
      const slow = client === 'slow' ? random.below(CLIENT_IDLE_MS) : latency(random)
      timeline.add({ after: isStalled ? CLIENT_IDLE_MS : slow, label: 'client sends', run: send })
    },
  })

  async function end(): Promise<void> {
    await timeline.wait(latency(random), 'client ends the form')
    if (client === 'malformed') throw new AppError('format_error', 'The form is malformed.')
    operation.hasEnded = true
  }

  return { content, size: sizeOf(action), end }
}

function sizeOf({ size, announced }: UploadAction): IncomingFile['size'] {
  switch (announced) {
    case 'exact':
      return { min: size, announced: size, max: size }
    case 'more':
      return {
        min: Math.max(0, size - FOLLOWING_BYTES),
        announced: size + FOLLOWING_BYTES,
        max: size + FOLLOWING_BYTES,
      }
    case 'nothing':
      return { min: 0, announced: undefined }
  }
}

function broken(client: UploadAction['client']): AppError {
  return client === 'stalls'
    ? new AppError('request_timeout', 'The body stopped coming.')
    : new AppError('truncated_body', 'The body broke off.')
}

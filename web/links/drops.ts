import { type ReadonlySignal, signal } from '@preact/signals'
import { ConnectionError, isPassing, ProblemError, problemOf, retryMs } from '../shared/api.ts'
import { messageOf } from '../shared/error-message.ts'
import { pause } from '../shared/sleep.ts'
import { messages } from '../messages.ts'
import type { Visit } from './visit.ts'

export type DropState =
  | { readonly kind: 'waiting' | 'sending' | 'done' }
  /** The connection was lost, or the service is busy: it goes on by itself. */
  | { readonly kind: 'paused' }
  | { readonly kind: 'refused'; readonly text: string }

/** One file on its way. */
export interface Drop {
  readonly id: number
  readonly name: string
  readonly size: number
  readonly sent: number
  readonly state: DropState
}

export interface Drops {
  readonly items: ReadonlySignal<readonly Drop[]>
  add(files: readonly File[]): void
  /** Sends a refused file again. */
  retry(id: number): void
}

/** Larger files are sent with tus, and continue after a lost connection. */
const RESUMABLE_BYTES = 16 * 2 ** 20

/** Of one file, before the visitor has to retry. */
const MAX_RETRIES = 8

/** Sends files by a drop link, one after the other. */
export function createDrops(visit: Visit): Drops {
  const items = signal<readonly Drop[]>([])
  const files = new Map<number, File>()
  let lastId = 0
  let isRunning = false

  function change(id: number, changed: Partial<Drop>): void {
    items.value = items.value.map((item) => (item.id === id ? { ...item, ...changed } : item))
  }

  async function run(): Promise<void> {
    if (isRunning) return
    isRunning = true
    try {
      for (let next = waiting(); next !== undefined; next = waiting()) await send(next)
    } finally {
      isRunning = false
    }
  }

  function waiting(): Drop | undefined {
    return items.value.find(({ state }) => state.kind === 'waiting')
  }

  async function send({ id }: Drop): Promise<void> {
    const file = files.get(id)
    if (file === undefined) return
    const sender = file.size < RESUMABLE_BYTES ? undefined : await loadResumable()
    let uploadUrl: string | undefined
    const onProgress = (sent: number): void => change(id, { sent })
    let hasLostAnswer = false
    for (let retries = 0; ; retries += 1) {
      change(id, { state: { kind: 'sending' } })
      try {
        if (sender === undefined) await put(visit, { file, onProgress })
        else {
          await sender.send(
            {
              content: file,
              endpoint: `${visit.api.urlOf(visit.pathOf('uploads'))}/`,
              uploadUrl,
              metadata: { filename: file.name },
              headers: {},
              onProgress,
              onCreated: (url) => (uploadUrl = url),
            },
            new AbortController().signal,
          )
        }
        change(id, { sent: file.size, state: { kind: 'done' } })
        files.delete(id)
        return
      } catch (error) {
        if (!isPassing(error) || retries >= MAX_RETRIES) {
          change(id, { state: { kind: 'refused', text: wordOf(error, hasLostAnswer) } })
          return
        }
        hasLostAnswer ||= error instanceof ConnectionError
        change(id, { state: { kind: 'paused' } })
        await pause(retryMs(error, retries))
      }
    }
  }

  return {
    items,

    add(added) {
      const drops = added.map((file) => {
        const id = (lastId += 1)
        files.set(id, file)
        return {
          id,
          name: file.name,
          size: file.size,
          sent: 0,
          state: { kind: 'waiting' },
        } as const
      })
      items.value = [...items.value, ...drops]
      void run()
    },

    retry(id) {
      change(id, { sent: 0, state: { kind: 'waiting' } })
      void run()
    },
  }
}

/** `undefined` if it cannot be loaded, as after an update of the service: then the file is sent in one request. */
async function loadResumable() {
  try {
    const { createResumableSender } = await import('../shared/uploads/tus-transport.ts')
    return createResumableSender()
  } catch {
    return undefined
  }
}

/** Not by `fetch`, which tells nothing of its progress. */
function put(
  visit: Visit,
  { file, onProgress }: { readonly file: File; readonly onProgress: (sent: number) => void },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const request = new XMLHttpRequest()
  request.open('PUT', visit.api.urlOf(visit.pathOf(file.name)))
  request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded))
  request.addEventListener('error', () => reject(new ConnectionError(undefined)))
  request.addEventListener('load', () => {
    const { status, responseText: text } = request
    if (status === 200) resolve()
    else reject(problemOf({ status, text, retryAfter: request.getResponseHeader('retry-after') }))
  })
  request.send(file)
  return promise
}

/** `hasLostAnswer`: an earlier attempt may have stored the file. */
function wordOf(error: unknown, hasLostAnswer: boolean): string {
  const code = error instanceof ProblemError ? error.code : ''
  const { refusals, lost } = messages.visit
  if (hasLostAnswer && code in lost) return lost[code as keyof typeof lost]
  return code in refusals
    ? refusals[code as keyof typeof refusals]
    : messages.failed(messageOf(error))
}

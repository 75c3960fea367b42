import { type ReadonlySignal, signal } from '@preact/signals'
import { isProblem } from '../../packages/js/src/errors.ts'
import { openSource } from '../../packages/js/src/files/source.ts'
import { createHttp } from '../../packages/js/src/http/http.ts'
import { isTemporary } from '../../packages/js/src/http/retry.ts'
import { childOf, isMarker } from '../shared/folder.ts'
import { type GatheredFile, gatheredName } from '../shared/gathered-file.ts'
import { failureOf } from '../shared/error-message.ts'
import type { SentDrop } from './resumable-drop.ts'
import { takenBy } from './drop-limits.ts'
import type { Visit } from './visit.ts'
import { words } from './words.ts'

export type DropState =
  | { readonly kind: 'waiting' | 'sending' | 'done' }
  /** The connection was lost, or the service is busy: it goes on by itself. */
  | { readonly kind: 'paused' }
  | { readonly kind: 'refused'; readonly text: string }

/** A folder that is sent with all that is in it. Its drops share this object. */
export interface DropTree {
  readonly id: number
  /** With a slash at its end. */
  readonly folder: string
}

/** One file on its way. */
export interface Drop {
  readonly id: number
  /** The chosen folder that it is in. */
  readonly tree: DropTree | undefined
  readonly name: string
  readonly size: number
  readonly sent: number
  readonly state: DropState
}

export interface Drops {
  readonly items: ReadonlySignal<readonly Drop[]>
  readonly add: (files: readonly GatheredFile[]) => void
  /** Sends refused files again. */
  retry(drops: readonly Drop[]): void
}

/** Larger files are sent with tus, and continue after a lost connection. */
const RESUMABLE_BYTES = 16 * 2 ** 20

/** Of one request, before the visitor has to retry. */
const MAX_TRIES = 9

/** Sends files by a drop link, one after the other. */
export function createDrops(visit: Visit): Drops {
  const items = signal<readonly Drop[]>([])
  const contents = new Map<number, Blob>()
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

  function refuse(id: number, text: string): void {
    change(id, { sent: 0, state: { kind: 'refused', text } })
  }

  function bytesLeft(): number {
    const { value } = visit.state
    return (value.kind === 'open' ? takenBy(value.link).bytes : null) ?? Infinity
  }

  function waiting(): Drop | undefined {
    return items.value.find(({ state }) => state.kind === 'waiting')
  }

  async function send({ id, name, size }: Drop): Promise<void> {
    const content = contents.get(id)
    if (content === undefined) return
    // The service would refuse it only when that much of it has arrived.
    if (size > bytesLeft()) return refuse(id, words.refusals.link_limit_exceeded)
    const done = (): void => {
      change(id, { sent: size, state: { kind: 'done' } })
      contents.delete(id)
    }
    let hasLostAnswer = false
    const http = createHttp({
      ...visit.connection.once,
      retry: { tries: MAX_TRIES, maxWait: 3600 },
      onRequestEnd(error) {
        hasLostAnswer ||= isProblem(error, 'connection_lost')
        if (isTemporary(error)) change(id, { state: { kind: 'paused' } })
      },
    })
    const onProgress = (sent: number): void => change(id, { sent, state: { kind: 'sending' } })
    change(id, { state: { kind: 'sending' } })
    try {
      const source = await openSource(content)
      const resumable = size < RESUMABLE_BYTES ? undefined : await loadResumable()
      const drop = { http, visit, name, source, onProgress }
      await (resumable ?? put)(drop)
      done()
    } catch (error) {
      // Of a folder that is there, nothing is missing.
      if (isMarker(name) && isProblem(error, 'file_exists')) done()
      else refuse(id, wordOf(error, hasLostAnswer))
    }
  }

  return {
    items,

    add(files) {
      const trees = new Map<string, DropTree>()
      const drops = files.map(({ content, path }): Drop => {
        const id = (lastId += 1)
        const name = gatheredName(path)
        const folder = childOf('', name)
        const tree = folder === undefined ? undefined : (trees.get(folder) ?? { id, folder })
        if (tree !== undefined) trees.set(tree.folder, tree)
        contents.set(id, content)
        return { id, tree, name, size: content.size, sent: 0, state: { kind: 'waiting' } }
      })
      items.value = [...items.value, ...drops]
      void run()
    },

    retry(drops) {
      for (const { id } of drops) change(id, { sent: 0, state: { kind: 'waiting' } })
      void run()
    },
  }
}

/** `undefined` if it cannot be loaded, as after an update of the service: then the file is sent in one request. */
async function loadResumable() {
  try {
    return (await import('./resumable-drop.ts')).sendResumably
  } catch {
    return undefined
  }
}

async function put({ http, visit, name, source, onProgress }: SentDrop): Promise<void> {
  const content = { source, start: 0, end: source.size, onSent: onProgress }
  await http.call({ method: 'PUT', path: visit.pathOf(name), content })
}

/** `hasLostAnswer`: an earlier attempt may have stored the file. */
function wordOf(error: unknown, hasLostAnswer: boolean): string {
  const code = isProblem(error) ? error.code : ''
  const { refusals, lost } = words
  if (hasLostAnswer && code in lost) return lost[code as keyof typeof lost]
  return code in refusals ? refusals[code as keyof typeof refusals] : failureOf(error)
}

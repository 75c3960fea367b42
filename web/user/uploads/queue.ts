import { effect, type ReadonlySignal, signal, untracked } from '@preact/signals'
import { type Api, pathOf, retryMs } from '../../shared/api.ts'
import { pause } from '../../shared/sleep.ts'
import { texts } from '../../messages.ts'
import type { Sender, UploadReply } from './uppy-transport.ts'
import { createUploadCheck, fullState, type UploadCheckOptions } from './upload-check.ts'
import { hasChanged, stateAfter } from './upload-failure.ts'
import { figuresOf, type UploadFigures } from './upload-figures.ts'
import {
  createItem,
  type GatheredFile,
  nextName,
  type UploadItem,
  type UploadState,
} from './upload-item.ts'
import { createUploadRate } from './upload-rate.ts'

export interface UploadsOptions extends UploadCheckOptions {
  readonly api: Api
  readonly sender: () => Sender
  readonly onUploaded: (reply: UploadReply) => void
}

export interface Uploads {
  readonly items: ReadonlySignal<readonly UploadItem[]>
  /** Changes with every change of an item. */
  readonly figures: ReadonlySignal<UploadFigures>
  add(files: readonly GatheredFile[]): void
  /** Takes an item off the list, and breaks off what of it is under way. */
  remove(items: readonly UploadItem[]): void
  retry(items: readonly UploadItem[]): void
  replace(items: readonly UploadItem[]): void
  keepBoth(item: UploadItem): void
  /** Begins nothing more, until it is known who is signed in. */
  hold(): void
  /** Whoever was signed out is back, or is still there. */
  resume(): void
}

/** A browser has six connections to a host, and lists and figures want some. */
const AT_ONCE = 3

/** Of an upload, after the first, before the user has to ask for more. */
const MAX_TRIES = 8

/** Many a second come in; nobody can read as many. */
const SHOW_MS = 150

/** The queue of uploads: which is sent when, and what becomes of those that were refused or broke off. */
export function createUploads(options: UploadsOptions): Uploads {
  const { api, capacity, onUploaded } = options
  const check = createUploadCheck(options)
  const items = signal<readonly UploadItem[]>([])
  const figures = signal<UploadFigures>(figuresOf([], 0))
  const running = new Map<UploadItem, AbortController>()
  const rate = createUploadRate()
  let lastId = 0
  let isShowDue = false
  let isHeld = false

  function show(): void {
    if (isShowDue) return
    isShowDue = true
    setTimeout(() => {
      isShowDue = false
      const { sent, active } = figuresOf(items.value, 0)
      if (active === 0) rate.reset()
      else rate.note(sent)
      figures.value = figuresOf(items.value, rate.perSecond())
    }, SHOW_MS)
  }

  function set(item: UploadItem, state: UploadState): void {
    item.state = state
    show()
  }

  function pump(): void {
    for (const item of items.value) {
      if (isHeld || running.size >= AT_ONCE) break
      if (item.state.kind === 'waiting' && !running.has(item)) void run(item)
    }
    show()
  }

  async function run(item: UploadItem): Promise<void> {
    const controller = new AbortController()
    running.set(item, controller)
    try {
      set(item, { kind: 'checking' })
      const refusal = await check(item, controller.signal)
      if (controller.signal.aborted) return
      if (isHeld) set(item, { kind: 'waiting' })
      else if (refusal === undefined) await send(item, controller.signal)
      else set(item, refusal)
    } catch (error) {
      if (!controller.signal.aborted) await fail(item, error)
    } finally {
      running.delete(item)
      pump()
    }
  }

  async function send(item: UploadItem, signal: AbortSignal): Promise<void> {
    const { replaced } = item
    if (item.startedAt === 0) item.startedAt = Date.now()
    set(item, { kind: 'sending' })
    const reply = await options.sender().send(
      {
        content: item.content,
        url: api.urlOf(pathOf(item.name)),
        // Whoever was faster keeps what they have.
        headers:
          replaced === undefined ? { 'if-none-match': '*' } : { 'if-match': `"${replaced.etag}"` },
        onProgress(sent) {
          item.sent = sent
          show()
        },
      },
      signal,
    )
    item.sent = item.size
    set(item, { kind: 'done' })
    onUploaded(reply)
  }

  async function fail(item: UploadItem, error: unknown): Promise<void> {
    item.sent = 0
    capacity.refresh()
    if (hasChanged(error)) item.mayReplace = false
    const state = await stateAfter(error, item)
    if (state.kind === 'lost' || state.kind === 'paused') later(item, state.kind, error)
    else set(item, state)
  }

  /** Gives its place to others, and comes back by itself. */
  function later(item: UploadItem, kind: 'lost' | 'paused', error: unknown): void {
    const ms = retryMs(error, item.tries)
    item.tries += 1
    // Without a network it is not the service that fails.
    if (item.tries > MAX_TRIES && (kind === 'paused' || navigator.onLine)) {
      set(item, { kind: 'refused', text: texts.uploads.refusals.given_up })
      return
    }
    set(item, { kind })
    void comeBack(item, ms)
  }

  async function comeBack(item: UploadItem, ms: number): Promise<void> {
    const { state } = item
    await pause(ms)
    // The user may have been faster.
    if (item.state === state) set(item, { kind: 'waiting' })
    pump()
  }

  function wake(woken: readonly UploadItem[]): void {
    for (const item of woken) {
      item.tries = 0
      if (!running.has(item)) item.state = { kind: 'waiting' }
    }
    pump()
  }

  // What did not fit says what is so by now.
  effect(() => {
    const available = capacity.figures.value?.available
    if (available === undefined) return
    untracked(() => {
      const full = items.value.filter(({ state }) => state.kind === 'full')
      for (const item of full) set(item, fullState(item, available))
    })
  })

  return {
    items,
    figures,

    add(files) {
      const added = files.map((file) => createItem((lastId += 1), file))
      // A list of what was done before says nothing of these.
      const isOver = items.value.every(({ state }) => state.kind === 'done')
      items.value = isOver ? added : [...items.value, ...added]
      pump()
    },

    remove(removed) {
      const gone = new Set(removed)
      items.value = items.value.filter((item) => !gone.has(item))
      for (const item of removed) running.get(item)?.abort(new Error('Cancelled.'))
      if (removed.length === 0) return
      figures.value = figuresOf(items.value, rate.perSecond())
      capacity.refresh()
    },

    retry: wake,

    replace(replaced) {
      for (const item of replaced) item.mayReplace = true
      wake(replaced)
    },

    keepBoth(item) {
      item.findsName = true
      item.name = nextName(item.name)
      wake([item])
    },

    hold() {
      isHeld = true
    },

    resume() {
      isHeld = false
      wake(items.value.filter(({ state }) => state.kind === 'signed_out'))
    },
  }
}

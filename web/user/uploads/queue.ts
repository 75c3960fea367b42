import { effect, type ReadonlySignal, signal, untracked } from '@preact/signals'
import { type Api, pathOf, retryMs } from '../../shared/api.ts'
import { pause } from '../../shared/sleep.ts'
import { messages } from '../../messages.ts'
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
  /** Updated, throttled, when an item changes. */
  readonly figures: ReadonlySignal<UploadFigures>
  add(files: readonly GatheredFile[]): void
  /** Removes items from the list and aborts their uploads. */
  remove(items: readonly UploadItem[]): void
  retry(items: readonly UploadItem[]): void
  replace(items: readonly UploadItem[]): void
  keepBoth(item: UploadItem): void
  /** Starts no further upload until `resume`. */
  hold(): void
  /** Continues after a sign-in, or if the user is still signed in. */
  resume(): void
}

/** Browsers open six connections per host; lists and figures need some of them. */
const AT_ONCE = 3

/** Automatic retries of an upload, before the user has to retry. */
const MAX_TRIES = 8

/** Progress events arrive faster than anyone can read. */
const SHOW_MS = 150

/** Schedules the uploads, and handles refusals and lost connections. */
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
        // Never overwrites a version that another client has written meanwhile.
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

  /** Lets other uploads run, and retries after a delay. */
  function later(item: UploadItem, kind: 'lost' | 'paused', error: unknown): void {
    const ms = retryMs(error, item.tries)
    item.tries += 1
    // While the browser is offline, lost connections do not count.
    if (item.tries > MAX_TRIES && (kind === 'paused' || navigator.onLine)) {
      set(item, { kind: 'refused', text: messages.uploads.refusals.given_up })
      return
    }
    set(item, { kind })
    void retryAfter(item, ms)
  }

  async function retryAfter(item: UploadItem, ms: number): Promise<void> {
    const { state } = item
    await pause(ms)
    // The user may have retried already.
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

  // Updates the missing space of uploads that did not fit.
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
      // Replaces a list of finished uploads.
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

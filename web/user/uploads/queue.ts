import { effect, type ReadonlySignal, signal, untracked } from '@preact/signals'
import { pause } from '../../../packages/js/src/http/abort.ts'
import { retryDelay } from '../../../packages/js/src/http/retry.ts'
import type { FileEntry } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import type { Permissions } from '../permissions.ts'
import type { Transfer } from './transfer.ts'
import { createUploadDecisions, type UploadDecisions } from './upload-decisions.ts'
import { createUploadCheck, fullState, type UploadCheckOptions } from './upload-check.ts'
import {
  hasChanged,
  isGone,
  isPreconditionFailed,
  stateAfter,
  unforeseen,
} from './upload-failure.ts'
import { createShownFigures, isActive, type UploadFigures } from './upload-figures.ts'
import { createItems, disown, type UploadItem, type UploadState } from './upload-item.ts'
import type { GatheredFile } from '../../shared/gathered-file.ts'

export interface UploadsOptions extends Omit<UploadCheckOptions, 'isOwn'> {
  readonly transfer: Transfer
  /** Called when a file is stored, with `undefined` if it has been replaced or deleted since. */
  readonly onUploaded: (file: FileEntry | undefined) => void
  /** Cancels a resumable upload on the service. Never rejects. */
  readonly cancel: (uploadId: string) => Promise<void>
  /** Whether another user may be signing in, so that nothing may be sent. */
  readonly isHeld: () => boolean
  /** Whether the browser has a network. */
  readonly isOnline: () => boolean
}

export interface Uploads extends UploadDecisions {
  readonly permissions: Permissions
  readonly items: ReadonlySignal<readonly UploadItem[]>
  /** Updated, throttled, when an item changes. */
  readonly figures: ReadonlySignal<UploadFigures>
  /**
   * Uploads files into a folder, by default the open one, with the prefix of the token in front of their names; none if
   * the token does not permit it.
   */
  add(files: readonly GatheredFile[], into?: string): void
  /** Whether an item sends that resumable upload. */
  owns(uploadId: string): boolean
  /** Removes items from the list. Aborts and cancels their uploads, and resolves when that is done. */
  remove(items: readonly UploadItem[]): Promise<void>
  /** Removes all items, and keeps uploads that can be continued. */
  clear(): void
  /** Continues after a sign-in, or if the user is still signed in. */
  resume(): void
}

interface Running {
  readonly controller: AbortController
  /** Never rejects. */
  readonly ended: Promise<void>
}

/** Browsers open six connections per host; lists and figures need some of them. */
const AT_ONCE = 3

/** Automatic retries of an upload, before the user has to retry. */
const MAX_TRIES = 8

const HELD = new Error('Another user is signing in.')

/** Schedules the uploads, and handles refusals and lost connections. */
export function createUploads(options: UploadsOptions): Uploads {
  const { list, capacity, permissions, unfinished, transfer } = options
  const { onUploaded, cancel, isHeld, isOnline } = options
  const items = signal<readonly UploadItem[]>([])
  const { figures, show, showNow } = createShownFigures(items)
  const running = new Map<UploadItem, Running>()
  const isOwn = (id: string): boolean => items.value.some(({ uploadId }) => uploadId === id)
  const check = createUploadCheck({ ...options, isOwn })
  let lastId = 0
  /** How often uploads were resumed. */
  let resumed = 0

  function set(item: UploadItem, state: UploadState): void {
    item.state = state
    show()
  }

  function pump(): void {
    for (const item of items.value) {
      if (isHeld() || running.size >= AT_ONCE) break
      if (item.state.kind !== 'waiting' || running.has(item)) continue
      const controller = new AbortController()
      const ended = Promise.withResolvers<void>()
      running.set(item, { controller, ended: ended.promise })
      void run(item, controller.signal).then(ended.resolve)
    }
    show()
  }

  function assertNotHeld(): void {
    if (isHeld()) throw HELD
  }

  async function run(item: UploadItem, signal: AbortSignal): Promise<void> {
    const begun = resumed
    try {
      set(item, { kind: 'checking' })
      const refusal = await check(item, signal)
      if (signal.aborted) return
      assertNotHeld()
      if (refusal === undefined) await send(item, signal)
      else set(item, refusal)
    } catch (error) {
      if (error === HELD) set(item, { kind: 'waiting' })
      else if (!signal.aborted) await fail(item, error)
      // The refused token was that of an earlier session.
      if (item.state.kind === 'signed_out' && begun !== resumed) set(item, { kind: 'waiting' })
    } finally {
      running.delete(item)
      pump()
    }
  }

  async function send(item: UploadItem, signal: AbortSignal): Promise<void> {
    if (item.startedAt === 0) item.startedAt = Date.now()
    set(item, { kind: 'sending' })
    let isFirst = true
    const onProgress = (sent: number): void => {
      // The first figure of a continued upload is what the service has. If it grew, the last attempt was no failure.
      if (isFirst && item.uploadId !== undefined && sent > item.kept) {
        item.kept = sent
        item.tries = 0
      }
      isFirst = false
      item.sent = sent
      show()
    }
    const file = await transfer(item, { onProgress, signal, assertNotHeld })
    item.sent = item.size
    set(item, { kind: 'done' })
    onUploaded(file)
  }

  async function fail(item: UploadItem, error: unknown): Promise<void> {
    capacity.refresh()
    const found = unforeseen(error, item, permissions)
    if (hasChanged(error)) item.mayReplace = false
    if (isGone(error)) disown(item)
    // The precondition of an upload cannot be changed, and this one cannot become true again.
    if (isPreconditionFailed(error)) await cancelUpload(item)
    if (item.uploadId === undefined) item.sent = 0
    const state = found ?? stateAfter(error)
    // Ends the session if the service refuses its token as well.
    if (state.kind === 'signed_out') permissions.read().catch(() => undefined)
    if (state.kind === 'lost' || state.kind === 'paused') later(item, state.kind, error)
    else set(item, state)
  }

  /** Lets other uploads run, and retries after a delay. */
  function later(item: UploadItem, kind: 'lost' | 'paused', error: unknown): void {
    const ms = retryDelay(error, item.tries + 1)
    item.tries += 1
    // While the browser is offline, lost connections do not count.
    if (item.tries > MAX_TRIES && (kind === 'paused' || isOnline())) {
      set(item, { kind: 'refused', text: messages.uploads.refusals.given_up })
      return
    }
    set(item, { kind })
    void retryAfter(item, ms)
  }

  async function retryAfter(item: UploadItem, ms: number): Promise<void> {
    const { state } = item
    await pause(ms, undefined)
    // The user may have retried already.
    if (item.state === state) set(item, { kind: 'waiting' })
    pump()
  }

  async function cancelUpload(item: UploadItem): Promise<void> {
    const uploadId = disown(item)
    if (uploadId !== undefined) await cancel(uploadId)
  }

  /** Resolves when no more of it is sent. */
  async function stop(item: UploadItem): Promise<void> {
    const work = running.get(item)
    work?.controller.abort(new Error('Cancelled.'))
    await work?.ended
  }

  function take(removed: readonly UploadItem[]): void {
    const gone = new Set(removed)
    items.value = items.value.filter((item) => !gone.has(item))
    showNow()
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
    const known = capacity.figures.value
    if (known === undefined) return
    untracked(() => {
      const full = items.value.filter(({ state }) => state.kind === 'full')
      for (const item of full) set(item, fullState(item, known))
    })
  })

  return {
    ...createUploadDecisions({ set, wake, cancel, permissions }),
    items,
    figures,
    permissions,

    add(files, into = list.path.value) {
      if (!permissions.mayUpload()) return
      const folder = into === list.base.value ? '' : into
      const nameOf = (path: string): string => permissions.within(folder + path)
      const added = createItems({ files, nameOf, nextId: () => (lastId += 1) })
      // Replaces a list of finished uploads.
      const isOver = items.value.every(({ state }) => state.kind === 'done')
      items.value = isOver ? added : [...items.value, ...added]
      pump()
    },

    owns: isOwn,

    async remove(removed) {
      if (removed.length === 0) return
      take(removed)
      // An upload that waits for a decision can be continued later.
      const cancelled = removed.filter(isActive)
      await Promise.all(
        cancelled.map(async (item) => {
          await stop(item)
          if (item.state.kind !== 'done') await cancelUpload(item)
        }),
      )
      capacity.refresh()
      unfinished.refresh()
    },

    clear() {
      const removed = items.value
      take(removed)
      for (const item of removed) void stop(item)
    },

    resume() {
      resumed += 1
      wake(items.value.filter(({ state }) => state.kind === 'signed_out'))
    },
  }
}

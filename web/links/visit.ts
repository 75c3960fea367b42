import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { isProblem } from '../../packages/js/src/errors.ts'
import { createHttp, encodeFilePath } from '../../packages/js/src/http/http.ts'
import { connect, type Connection } from '../shared/connection.ts'
import type { LinkedFile } from './folder-contents.ts'
import { createOpenFolder } from './open-folder.ts'
import { failureOf } from '../shared/error-message.ts'
import { words } from './words.ts'

export interface OpenLink {
  readonly kind: 'download' | 'drop'
  readonly label: string
  readonly files: readonly LinkedFile[]
  readonly next_cursor: string | null
  readonly expires_at: string | null
  readonly uses_left: number | null
  /** Of a drop link. */
  readonly files_left?: number | null
  readonly bytes_left?: number | null
}

/** A link as the API describes it. Until its password is sent, it has only `kind` and `needs_password`. */
type LinkReply = Pick<OpenLink, 'kind'> & Partial<OpenLink> & { readonly needs_password: boolean }

export type VisitState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly text: string }
  | { readonly kind: 'locked'; readonly problem: string | undefined }
  | { readonly kind: 'open'; readonly link: OpenLink }

export interface Visit {
  readonly connection: Connection
  readonly state: ReadonlySignal<VisitState>
  /** The open folder of a download link, with a slash at its end; empty for all. It is in the address. */
  readonly folder: ReadonlySignal<string>
  /** Whether there are files that only `readMore` reads. */
  readonly isCut: ReadonlySignal<boolean>
  /** The address of an archive of all files. */
  readonly archive: string
  openFolder(folder: string): void
  /** The path of a file of the link, or of its uploads, below the page's base. */
  pathOf(name: string): string
  /** Reads the link, and then the further pages of its files, up to some twenty thousand. */
  read(): Promise<void>
  /** Reads as many files again. */
  readMore(): Promise<void>
  /** Reads how many uses are left, and how much it still takes. */
  recount(): Promise<void>
  /** Sends the password, and reads the link if it is right. */
  unlock(password: string): Promise<void>
}

/** In one request. */
const PAGE_FILES = 1_000

/** So many pages are read without being asked for. */
const PAGES_AT_ONCE = 20

/** `address` is that of the page: `.../links/{secret}`. */
export function createVisit(address: string): Visit {
  const { pathname } = new URL(address)
  const path = `links/${pathname.slice(pathname.lastIndexOf('/') + 1)}`
  const connection = connect({ base: new URL('..', address).href, onRefusedToken: () => undefined })
  const reader = createHttp(connection.patient)
  const state = signal<VisitState>({ kind: 'loading' })
  const isReading = signal(false)
  const { folder, openFolder } = createOpenFolder()

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      state.value = isGone(error) ? { kind: 'ended' } : { kind: 'failed', text: wordOf(error) }
    }
  }

  function change(changed: Partial<OpenLink>): void {
    const { value } = state
    if (value.kind === 'open') state.value = { kind: 'open', link: { ...value.link, ...changed } }
  }

  async function read(): Promise<void> {
    await attempt(async () => {
      const link = await reader.json<LinkReply>({ path, query: { limit: PAGE_FILES } })
      state.value = isOpen(link) ? { kind: 'open', link } : { kind: 'locked', problem: undefined }
    })
    void readMore()
  }

  async function readMore(): Promise<void> {
    if (isReading.value) return
    isReading.value = true
    for (let page = 0; page < PAGES_AT_ONCE && nextCursor() !== null; page += 1) {
      await attempt(readPage)
    }
    isReading.value = false
  }

  function nextCursor(): string | null {
    return state.value.kind === 'open' ? state.value.link.next_cursor : null
  }

  async function readPage(): Promise<void> {
    const query = { cursor: nextCursor() ?? '', limit: PAGE_FILES }
    const next = await reader.json<LinkReply>({ path, query })
    if (state.value.kind !== 'open') return
    const files = [...state.value.link.files, ...(next.files ?? [])]
    change({ files, next_cursor: next.next_cursor ?? null })
  }

  return {
    connection,
    state,
    folder,
    isCut: computed(() => nextCursor() !== null && !isReading.value),
    archive: connection.urlOf(`${path}?format=zip`),
    openFolder,
    pathOf: (name) => `${path}/${encodeFilePath(name)}`,
    read,

    readMore,

    async recount() {
      try {
        const link = await reader.json<LinkReply>({ path, query: { limit: 1 } })
        const { uses_left = null, files_left = null, bytes_left = null } = link
        change({ uses_left, files_left, bytes_left })
      } catch (error) {
        if (!isGone(error)) return
        // Visitors still read what they have sent.
        if (state.value.kind === 'open' && state.value.link.kind === 'drop')
          change({ uses_left: 0 })
        else state.value = { kind: 'ended' }
      }
    },

    async unlock(password) {
      try {
        await createHttp(connection.brief).call({ method: 'POST', path, json: { password } })
      } catch (error) {
        state.value = { kind: 'locked', problem: wordOf(error) }
        return
      }
      await read()
      // A browser without cookies has not kept the key.
      if (state.value.kind === 'locked') {
        state.value = { kind: 'locked', problem: words.notKept }
      }
    },
  }
}

function isGone(error: unknown): boolean {
  return isProblem(error, 'not_found')
}

function isOpen(link: LinkReply): link is LinkReply & OpenLink {
  return link.files !== undefined
}

function wordOf(error: unknown): string {
  const code = isProblem(error) ? error.code : ''
  const { reasons } = words
  return code in reasons ? reasons[code as keyof typeof reasons] : failureOf(error)
}

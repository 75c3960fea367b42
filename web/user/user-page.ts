import { effect, signal, untracked } from '@preact/signals'
import { createClient } from '../../packages/js/src/client.ts'
import { createHttp } from '../../packages/js/src/http/http.ts'
import { connect } from '../shared/connection.ts'
import type { Point } from '../shared/dialog.tsx'
import { failureOf } from '../shared/error-message.ts'
import type { FileEntry, OwnToken } from '../shared/model.ts'
import { createSession } from '../shared/session.ts'
import { createToasts } from '../shared/toasts.tsx'
import { messages } from '../messages.ts'
import { createAccess } from './access/access.ts'
import { createCapacityFigures } from './capacity-figures.ts'
import { followFiles } from './files/file-feed.ts'
import { createFileContent } from './file-content.ts'
import { createFileList } from './files/file-list.ts'
import { createFolders } from './folders/folders.ts'
import { createLayout } from './files/layout.ts'
import { createHistory } from './history/history.ts'
import { createPermissions } from './permissions.ts'
import { loadWhen } from './load-when.ts'
import { createSelection } from './selection/selection.ts'
import { createRemoval } from './undo-delete.ts'
import { takeDroppedFiles } from './uploads/dropped-files.ts'
import { createSessionGate } from './session-gate.ts'
import { isLoopback } from '../shared/sign-in-link.ts'
import { takeAccessToken } from './sign-in-link.ts'
import { createSignIns } from './sign-ins.ts'
import { openTabs } from './cross-tab.ts'
import { createUploads } from './uploads/queue.ts'
import { createTransfer } from './uploads/transfer.ts'
import { createUnfinishedActions } from './uploads/unfinished-actions.ts'
import { createUnfinishedUploads } from './uploads/unfinished-uploads.ts'
import { createViewer } from './viewer/viewer.ts'

export type Page = ReturnType<typeof createPage>

/** How often the figures are read during uploads. */
const WATCH_MS = 2_000

/** Time for the browser to delete the thumbnails. A tab that sleeps can keep it from that. */
const FORGET_MS = 1_000

interface PageOptions {
  /** The base URL of the page. */
  readonly base: string
  /** That of the service for everyone, if it is known. */
  readonly publicUrl: string | undefined
  /** Files can be dropped on it. */
  readonly target: HTMLElement
}

/** Composes the page. */
export function createPage({ base, publicUrl, target }: PageOptions) {
  const toasts = createToasts()
  const onRefusedToken = (cause: string): void => session.refuse(cause)
  const connection = connect({ base, publicUrl, onRefusedToken })
  const reader = createClient(connection.patient)
  const gate = createSessionGate()
  const acting = { ...connection.brief, fetch: gate.behind(connection.brief.fetch) }
  const client = createClient(acting)
  const http = createHttp(acting)
  const signIns = createSignIns({
    tabs: openTabs(base),
    gate,
    look: () => session.look(),
    onSettled() {
      if (isSignedIn()) uploads.resume()
    },
  })
  const permissions = createPermissions(reader)
  const capacity = createCapacityFigures(reader, permissions)
  const list = createFileList(reader.files, permissions)
  const folders = createFolders({ list, files: client.files, permissions })
  const session = createSession({
    http: {
      // A sign-in passes the gate that it has closed itself.
      call: (asked) => createHttp(connection.brief).call(asked),
      remove: (asked) => http.remove(asked),
    },
    async ask() {
      await permissions.read()
      await capacity.read()
    },
    member: 'access_token',
    nobody: 'access_token_missing',
    words: messages.signIn,
    trustsLinks: isLoopback(location.hostname),
    onChanging: signIns.begin,
    onChange: signIns.end,
    onRefused: (reason) => toasts.show(reason),
  })
  const history = createHistory({ reader, client, http, list, capacity })
  const access = createAccess(async () => (await import('./access/access-view.tsx')).AccessView)
  const content = createFileContent(connection)
  const layout = createLayout(async () => (await import('./files/file-grid.tsx')).FileGrid)
  const viewer = createViewer(async () => (await import('./viewer/file-viewer.tsx')).FileViewer)
  /** Of another service on this host, another one. */
  const thumbnailDatabase = `cloud-repository ${base} thumbnails`
  const selection = createSelection(list, (error) => toasts.show(failureOf(error)))
  /** Whether the actions on the selection are asked for, and where. */
  const selectionMenu = signal<{ readonly at: Point | undefined }>()
  const SelectionBar = loadWhen({
    isWanted: () => selection.files.value.length > 0,
    load: async () => (await import('./selection/selection-bar.tsx')).SelectionBar,
    onFailed(error) {
      selection.clear()
      toasts.show(failureOf(error))
    },
  })
  const CapacityParts = loadWhen({
    isWanted: () => capacity.figures.value !== undefined,
    load: async () => (await import('./devices/capacity-parts.tsx')).CapacityParts,
    onFailed: (error) => toasts.show(failureOf(error)),
  })
  const DeviceBar = loadWhen({
    isWanted: () => list.device.value !== '',
    load: async () => (await import('./devices/device-bar.tsx')).DeviceBar,
    onFailed: (error) => toasts.show(failureOf(error)),
  })
  const HistoryView = loadWhen({
    isWanted: () => history.view.value !== undefined,
    load: async () => (await import('./history/history-browser.tsx')).HistoryBrowser,
    onFailed(error) {
      history.close()
      toasts.show(failureOf(error))
    },
  })
  const removal = createRemoval({
    files: client.files,
    list,
    history,
    capacity,
    toasts,
    permissions,
    onRemoved: () => void folders.keepOpen(),
    async restore(removed) {
      const { restoreMany } = await import('./selection/change-many.ts')
      const parts = { client, list, folders, capacity, permissions, toasts, selection, removal }
      await restoreMany(parts, removed)
    },
  })
  const unfinished = createUnfinishedUploads({ reader, client, http })
  const { cancelUpload, finishUpload } = createUnfinishedActions({
    unfinished,
    capacity,
    toasts,
    isSignedIn,
    onUploaded,
  })
  // Only the queue knows whether a refused token is that of the session, or of one before it.
  const { files } = createClient({ ...connection.once, onRequestEnd: undefined })
  const transfer = createTransfer({ files, permissions })
  const uploads = createUploads({
    list,
    capacity,
    permissions,
    unfinished,
    transfer,
    onUploaded,
    cancel: cancelUpload,
    isHeld: gate.isClosed,
    isOnline: () => navigator.onLine,
  })

  const UploadPanel = loadWhen({
    isWanted: () => uploads.items.value.length > 0,
    load: async () => (await import('./uploads/upload-panel.tsx')).UploadPanel,
    // The uploads go on.
    onFailed: (error) => toasts.show(failureOf(error)),
  })
  const UnfinishedList = loadWhen({
    isWanted: () => unfinished.uploads.value.length > 0,
    load: async () => (await import('./uploads/unfinished-list.tsx')).UnfinishedList,
    onFailed: (error) => toasts.show(failureOf(error)),
  })

  function isSignedIn(): boolean {
    return session.state.value.kind === 'open'
  }

  function onUploaded(file: FileEntry | undefined): void {
    capacity.refresh()
    // A token that may not read the file is not told enough of it, and sees no list.
    if (file !== undefined && permissions.may('read')) list.put(file)
  }

  /** Reads the unfinished uploads if their number has changed, or is not known. Most users never have any. */
  function followUnfinished(): void {
    if (!permissions.mayUpload()) return
    const count = capacity.figures.value?.unfinished_uploads.count
    if (count !== unfinished.uploads.value.length) unfinished.refresh()
  }

  /** Whether another tab or device is uploading, or the service is storing what it has uploaded. */
  function isSentElsewhere(): boolean {
    return unfinished.uploads.value.some(
      ({ state, refusal, upload_id: id }) =>
        (state === 'receiving' || (state === 'complete' && refusal === null)) && !uploads.owns(id),
    )
  }

  function onDropped(...dropped: Parameters<typeof uploads.add>): void {
    if (isSignedIn()) uploads.add(...dropped)
  }

  /** The user and the scope for whom the page is: those of the first token. */
  let holder: string | undefined
  /** Whether the page is being loaded anew. */
  const isLeaving = signal(false)

  function closeViews(): void {
    list.clear()
    unfinished.clear()
    history.close()
    access.close()
    viewer.close()
  }

  /** Leaves nothing of the user for the next one in this browser. */
  function forgetUser(): void {
    folders.leave()
    uploads.clear()
    const forgotten = indexedDB.deleteDatabase(thumbnailDatabase)
    if (holder === undefined) return
    // What is under way ends with the document: else it would go on, as the next user.
    gate.hold()
    isLeaving.value = true
    const reload = (): void => location.reload()
    for (const end of ['success', 'error']) forgotten.addEventListener(end, reload)
    setTimeout(reload, FORGET_MS)
  }

  /** Another user does not see what the previous one did, and another scope may not permit it. */
  function changeToken(token: OwnToken | undefined): void {
    if (token === undefined) return
    const found = JSON.stringify([token.user_id, token.scope])
    holder ??= found
    if (found !== holder) forgetUser()
  }

  function openSession(): void {
    if (isLeaving.value) return
    followUnfinished()
    void list.reload()
    uploads.resume()
  }

  /** Keeps uploads if the session ended, but not if the user signed out. */
  function closeSession(mayReturn: boolean): void {
    closeViews()
    if (!mayReturn) forgetUser()
  }

  async function signOut(): Promise<void> {
    await toasts.attempt(async () => {
      await uploads.remove(uploads.items.value)
      await session.signOut()
    })
  }

  function start(accessToken: string | undefined): void {
    takeDroppedFiles(target, onDropped)
    signIns.listen()
    followFiles({
      client: reader,
      list,
      userId: () => permissions.token.value?.user_id ?? '',
      onChange() {
        capacity.refresh()
        history.refresh()
      },
    })
    // Before the page shows the name of another user.
    effect(() => {
      const token = permissions.token.value
      untracked(() => changeToken(token))
    })
    effect(() => {
      const state = session.state.value
      untracked(() => {
        if (state.kind === 'open') openSession()
        else if (state.kind === 'closed') closeSession(state.reason !== undefined)
      })
    })
    effect(() => {
      const isKnown = capacity.figures.value !== undefined
      untracked(() => {
        if (isKnown && isSignedIn()) followUnfinished()
      })
    })
    setInterval(() => {
      if (!isSignedIn()) return
      if (uploads.figures.value.active > 0) capacity.refresh()
      if (isSentElsewhere() && connection.isConnected.value) unfinished.refresh()
    }, WATCH_MS)
    document.addEventListener('visibilitychange', () => {
      if (document.hidden || !isSignedIn()) return
      capacity.refresh()
      history.refresh()
      if (unfinished.uploads.value.length > 0) unfinished.refresh()
    })
    addEventListener('beforeunload', (event) => {
      if (uploads.figures.value.active > 0) event.preventDefault()
    })
    // A sign-in link that is pasted into the address bar of an open tab.
    addEventListener('hashchange', () => {
      const pasted = takeAccessToken()
      if (pasted !== undefined) void session.begin(pasted)
    })
    folders.restore()
    void layout.restore()
    void session.begin(accessToken)
  }

  return {
    access,
    cancelUpload,
    capacity,
    client,
    connection,
    content,
    DeviceBar,
    CapacityParts,
    finishUpload,
    folders,
    history,
    HistoryView,
    http,
    isLeaving,
    layout,
    list,
    permissions,
    reader,
    removal,
    selection,
    SelectionBar,
    selectionMenu,
    session,
    signOut,
    start,
    thumbnailDatabase,
    toasts,
    unfinished,
    UnfinishedList,
    UploadPanel,
    uploads,
    viewer,
  }
}

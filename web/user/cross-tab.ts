import type { FileEntry } from '../shared/model.ts'

/** What one tab tells the others of the same browser. */
export type TabMessage =
  | { readonly kind: 'put'; readonly file: FileEntry }
  | { readonly kind: 'drop'; readonly name: string }
  /** Somebody is about to sign in. */
  | { readonly kind: 'session_changing' }
  | { readonly kind: 'session' }

export interface Tabs {
  tell(message: TabMessage): void
  listen(hear: (message: TabMessage) => void): void
}

/** Pages of one service, which is to say of one folder, hear one another. */
export function openTabs(base: string): Tabs {
  const channel = new BroadcastChannel(`cloud-repository ${base}`)
  return {
    // A channel has no target but its own origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    tell: (message) => channel.postMessage(message),
    listen(hear) {
      channel.addEventListener('message', ({ data }) => hear(data as TabMessage))
    },
  }
}

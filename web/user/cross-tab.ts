import type { TabMessage, Tabs } from './sign-ins.ts'

/** Connects the tabs that have the same base URL, so of one service. */
export function openTabs(base: string): Tabs {
  const channel = new BroadcastChannel(`cloud-repository ${base}`)
  return {
    // A channel has no target origin: it never leaves its own.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    tell: (message) => channel.postMessage(message),
    listen(hear) {
      channel.addEventListener('message', ({ data }) => hear(data as TabMessage))
    },
  }
}

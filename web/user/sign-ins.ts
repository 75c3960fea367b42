import { pause } from '../../packages/js/src/http/abort.ts'
import type { SessionGate } from './session-gate.ts'

/** A tab of the browser is about to sign in, or has done so, tried to, or signed out. */
export interface TabMessage {
  readonly kind: 'session_changing' | 'session'
}

export interface Tabs {
  tell(message: TabMessage): void
  listen(hear: (message: TabMessage) => void): void
}

export interface SignInsOptions {
  readonly tabs: Tabs
  readonly gate: Pick<SessionGate, 'hold'>
  /** Finds out who is signed in. */
  readonly look: () => Promise<void>
  /** Called after each sign-in or look. The gate is open unless another sign-in has begun, or the page is left. */
  readonly onSettled: () => void
}

/** Keeps the gate closed from before a sign-in, in any tab, until it is known here who is signed in. */
export interface SignIns {
  /** Called before this tab signs in. Resolves when the other tabs have heard of it. */
  readonly begin: () => Promise<void>
  /** Called after a sign-in, an attempt, or a sign-out in this tab. */
  readonly end: () => void
  /** Follows what the other tabs tell. */
  readonly listen: () => void
}

/** Time for a message to reach the other tabs. */
const HEARD_MS = 50

/** A tab that announced a sign-in but has not reported it by then was closed. */
const CHANGE_MS = 10_000

export function createSignIns({ tabs, gate, look, onSettled }: SignInsOptions): SignIns {
  /** One for each sign-in of this tab: a pasted link can follow a form that waits for its answer. */
  const own: (() => void)[] = []
  /** One for each sign-in that another tab has announced, and not yet reported. */
  const announced = new Set<() => void>()

  function hear({ kind }: TabMessage): void {
    if (kind === 'session_changing') {
      const hold = gate.hold()
      announced.add(hold)
      setTimeout(() => void settle(hold), CHANGE_MS)
    } else {
      const [oldest] = announced
      void settle(oldest)
    }
  }

  /** An answer to a question from before this one does not open the gate: each question holds it by itself. */
  async function settle(hold: (() => void) | undefined): Promise<void> {
    // The sign-in may have been reported before its time was over.
    if (hold !== undefined && !announced.delete(hold)) return
    const looked = gate.hold()
    await look()
    looked()
    hold?.()
    onSettled()
  }

  return {
    async begin() {
      tabs.tell({ kind: 'session_changing' })
      own.push(gate.hold())
      await pause(HEARD_MS, undefined)
    },

    end() {
      tabs.tell({ kind: 'session' })
      own.shift()?.()
      onSettled()
    },

    listen: () => tabs.listen(hear),
  }
}

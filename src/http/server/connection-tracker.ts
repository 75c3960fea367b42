import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What a listener that is about to close has to know of its connections. */
export interface ConnectionTracker {
  /** When one was accepted or an answer on one was over last, by `performance.now()`; before any time when none was. */
  lastChangedAt(): number
  /** For how long none has been open, in milliseconds; 0 while there is one. */
  quietMs(): number
  /** Closes those on which no request has been under way for that long, in milliseconds. */
  closeIdle(olderThanMs: number): void
}

/** Watches the connections of a server from now on. */
export function trackConnections(server: Server): ConnectionTracker {
  const open = new Set<Socket>()
  /** Those without a request under way, and since when. */
  const idle = new Map<Socket, number>()
  let lastChangedAt = Number.NEGATIVE_INFINITY
  let quietSince = performance.now()

  server.on('connection', (socket) => {
    lastChangedAt = performance.now()
    open.add(socket)
    idle.set(socket, lastChangedAt)
    socket.once('close', () => {
      open.delete(socket)
      idle.delete(socket)
      quietSince = performance.now()
    })
  })

  function onRequest({ socket }: IncomingMessage, response: ServerResponse): void {
    idle.delete(socket)
    response.once('close', () => {
      lastChangedAt = performance.now()
      if (open.has(socket)) idle.set(socket, lastChangedAt)
    })
  }
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    server.on(event, onRequest)
  }

  return {
    lastChangedAt: () => lastChangedAt,
    quietMs: () => (open.size > 0 ? 0 : performance.now() - quietSince),
    closeIdle(olderThanMs) {
      const before = performance.now() - olderThanMs
      for (const [socket, since] of idle) if (since <= before) socket.destroySoon()
    },
  }
}

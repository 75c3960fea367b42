// The crowd as a process of its own, so that its work is not taken for slowness of the service or of the client that is
// measured. It yields to both, as if it ran elsewhere. Its parent sends what it is to do, is told when all connections
// have been made, and ends it.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { byteAppends, openUploads, type Upload } from './append-attacks.ts'
import { type Attack, type AttackOptions, createAttacks, wrongToken } from './attacks.ts'

export interface CrowdOrder extends AttackOptions {
  readonly port: number
}

/** What the crowd tells in the end. */
export interface CrowdReport {
  readonly answers: CrowdAnswers
  /** Of its own process, user and system. */
  readonly cpuSeconds: number
}

/** Answers by kind of attack and status, and connections that were closed without one, as `none`. */
export type CrowdAnswers = Record<string, Record<string, number>>

setPriority(constants.priority.PRIORITY_LOW)

// Nobody is left to end it.
process.once('disconnect', () => process.exit(1))

const answers: CrowdAnswers = {}
const [order] = (await once(process, 'message')) as [CrowdOrder]
const firstConnections: Promise<void>[] = []
const slowUploads = await uploadsOf(order.cookies, order.size.slowAppends)
const byteUploads = await uploadsOf(
  order.byteCookies,
  Math.ceil(order.size.byteAppendsPerSecond / 10),
)
for (const [at, attack] of createAttacks(order, slowUploads).entries()) {
  const first = Promise.withResolvers<void>()
  firstConnections.push(first.promise)
  void repeat(attack, first.resolve)
  // Not more at once than a listener's backlog takes.
  if (at % 50 === 49) await delay(50)
}
void guess()
for (const upload of byteUploads) void appendBytes(upload)
await Promise.all(firstConnections)
process.send?.('ready')
await once(process, 'message')
const { user, system } = process.cpuUsage()
const report: CrowdReport = { answers, cpuSeconds: (user + system) / 10 ** 6 }
process.send?.(report, () => process.exit())

/** Comes back whenever it is turned away. */
async function repeat(attack: Attack, onStart: () => void): Promise<never> {
  for (;;) {
    await attempt(attack, onStart)
    if (attack.kind !== 'overwrites') await delay(1_000 + Math.random() * 1_000)
  }
}

async function attempt({ kind, script, sips }: Attack, onStart: () => void): Promise<void> {
  const socket = open(kind)
  const connected = new Promise<void>((resolve) => socket.once('connect', resolve))
  if (sips) sip(socket)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  for await (const piece of script()) {
    if (socket.destroyed || socket.writableEnded) break
    const isTaken = socket.write(piece, 'latin1')
    void connected.then(onStart)
    if (isTaken) continue
    const drained = new Promise((resolve) => socket.once('drain', resolve))
    await Promise.race([drained, closed])
  }
  void connected.then(onStart)
  await closed
}

/** Takes a piece of 64 KiB at most each 40 s: little more than a reader has to take. */
function sip(socket: Socket): void {
  socket.on('data', () => {
    socket.pause()
    setTimeout(() => socket.resume(), 40_000)
  })
}

function open(kind: Attack['kind']): Socket {
  const socket = connect({ port: order.port, host: '127.0.0.1' })
  let status = 'none'
  socket.on('error', () => {})
  socket.once('data', (bytes: Buffer) => {
    status = bytes.toString('latin1', 9, 12)
    // Whoever is answered has failed; only readers go on.
    if (kind !== 'slowReaders') socket.resume().end()
  })
  socket.once('close', () => count(kind, status))
  return socket
}

function count(kind: Attack['kind'], status: string): void {
  const counts = (answers[kind] ??= {})
  counts[status] = (counts[status] ?? 0) + 1
}

/** As many for each of the users. */
async function uploadsOf(cookies: readonly string[], count: number): Promise<readonly Upload[]> {
  if (count === 0) return []
  const each = Math.ceil(count / cookies.length)
  const { port } = order
  return (await Promise.all(cookies.map((cookie) => openUploads({ port, cookie }, each)))).flat()
}

/** At most ten a second, one after the other. */
async function appendBytes(upload: Upload): Promise<never> {
  const append = byteAppends(upload)
  for (;;) {
    const [status] = await Promise.all([append(), delay(100)])
    count('byteAppendsPerSecond', status)
  }
}

async function guess(): Promise<never> {
  for (;;) {
    await delay(100)
    for (let at = 0; at < order.size.wrongTokensPerSecond / 10; at += 1) {
      open('wrongTokensPerSecond').write(wrongToken())
    }
  }
}

import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { contentOf } from '../crash/content.ts'
import { send } from '../crash/request.ts'
import { openWorld, type Places, type World } from '../crash/world.ts'
import type { CrowdSize } from './attacks.ts'
import { gather } from './crowd.ts'
import type { CrowdReport } from './crowd-process.ts'
import { type Fare, work } from './good-client.ts'
import { type MeasuredService, startMeasured } from './measured-service.ts'

export interface HostileOptions {
  readonly places: Places
  readonly crowds: Readonly<Record<string, CrowdSize>>
  /** How often the client is measured with each crowd, alone and then beside it. */
  readonly rounds: number
  /** How long each time. */
  readonly roundMs: number
  readonly onRound?: (round: Round) => void
}

export interface Round {
  /** The name of the crowd. */
  readonly name: string
  readonly alone: Fare
  readonly beside: Fare
  readonly crowd: CrowdReport
}

export interface HostileFigures {
  readonly rounds: readonly Round[]
  readonly resident: { readonly start: number; readonly peak: number; readonly end: number }
}

const NOBODY: CrowdSize = {
  slowBodies: 0,
  hostileForms: 0,
  slowHeads: 0,
  idleSockets: 0,
  slowReaders: 0,
  tinyChunks: 0,
  strangersChunks: 0,
  overwrites: 0,
  slowAppends: 0,
  wrongTokensPerSecond: 0,
  byteAppendsPerSecond: 0,
}

/** Those who are slow or wrong: more than 1,600 connections. */
const MIXED: CrowdSize = {
  ...NOBODY,
  slowBodies: 1000,
  hostileForms: 200,
  slowHeads: 100,
  idleSockets: 300,
  slowReaders: 50,
  wrongTokensPerSecond: 100,
}

const STORM = { slowReaders: 900, tinyChunks: 90, strangersChunks: 10, overwrites: 4 }

/** As many unfinished uploads as the users may have. */
const APPENDS = { slowAppends: 2000, byteAppendsPerSecond: 1000 }

/** The crowd that has all kinds: more than 4,600 connections, which take all of a core. */
export const ALL = 'all at once'

export const CROWDS: Readonly<Record<string, CrowdSize>> = {
  mixed: MIXED,
  'slow readers': { ...NOBODY, slowReaders: STORM.slowReaders },
  'chunks of a byte': {
    ...NOBODY,
    tinyChunks: STORM.tinyChunks,
    strangersChunks: STORM.strangersChunks,
  },
  overwrites: { ...NOBODY, overwrites: STORM.overwrites },
  appends: { ...NOBODY, ...APPENDS },
  [ALL]: { ...MIXED, ...STORM, ...APPENDS },
}

const MIB = 2 ** 20

/** The setting's default. */
export const UPLOAD_MEMORY = 256 * MIB

/** The setting's default. */
const MAX_DOWNLOADS = 1000

/**
 * What docs/configuration.md says: what a process takes anyway, twice what uploads may hold, since what they let go of
 * waits for the garbage
 * collector, and 256 KiB a download.
 */
export const MOST_RESIDENT = 200 * 10 ** 6 + 2 * UPLOAD_MEMORY + (MAX_DOWNLOADS * MIB) / 4

/** Measures a client alone and beside a crowd, in turns, so that both see the same machine. */
export async function runHostile(options: HostileOptions): Promise<HostileFigures> {
  await using opened = new AsyncDisposableStack()
  const world = opened.use(await openWorld(options.places))
  const service = await startMeasured(world.environment, opened)
  const { port } = service
  const cookie = await createUser(world, 'good')
  const cookies: string[] = []
  // Each user may have 100 uploads under way, and as many unfinished ones.
  for (let at = 0; at < 20; at += 1) cookies.push(await createUser(world, `crowd-${at}`))
  const writerCookie = await createUser(world, 'writer')
  const byteCookies: string[] = []
  for (let at = 0; at < 10; at += 1) byteCookies.push(await createUser(world, `bytes-${at}`))
  await placeLargeFile(service, cookies[0] ?? '')
  await work({ port, cookie, ms: 2_000 })
  const start = await service.residentBytes()
  const rounds: Round[] = []
  const turns = Array.from({ length: options.rounds }, () => Object.entries(options.crowds)).flat()
  for (const [name, size] of turns) {
    const alone = await work({ port, cookie, ms: options.roundMs })
    const named = { cookies, writerCookie, byteCookies }
    const crowd = await gather({ port, ...named, size, largeFile: LARGE_FILE })
    // Until all of them are under way: what they cost by coming together is over in seconds.
    await delay(SETTLE_MS)
    const beside = await work({ port, cookie, ms: options.roundMs })
    const round = { name, alone, beside, crowd: await crowd.leave() }
    rounds.push(round)
    options.onRound?.(round)
    // What the crowd left is cleaned up before the client is alone again.
    await delay(3_000)
  }
  const end = await service.residentBytes()
  return { rounds, resident: { start, peak: await service.peakBytes(), end } }
}

const SETTLE_MS = 5_000

const LARGE_FILE = '/users/crowd-0/repo/large'

async function placeLargeFile({ port }: MeasuredService, cookie: string): Promise<void> {
  const content = contentOf('large', 64 * MIB)
  const headers = { cookie, 'content-length': String(content.length) }
  const path = '/users/me/repo/large?visibility=public'
  const agent = new Agent()
  const outcome = await send({ agent, port, method: 'PUT', path, headers, body: [content] })
  if (outcome.kind !== 'reply' || outcome.status !== 200) throw new Error('No large file')
}

/** Resolves to the `Cookie` header of a new user with room for anything. */
export async function createUser(world: World, name: string): Promise<string> {
  const { users, accessTokens, grants } = world.service
  const userId = parseUserId(name)
  await users.create(userId)
  const { secret } = await accessTokens.issue({ userId, label: '', expiresInSeconds: undefined })
  const period = { startsAt: undefined, endsAt: undefined }
  const room = { source: 'test', reference: 'room', bytes: 2 ** 40 }
  await grants.putGrant({ userId, ...room, ...period })
  return `access_token=${secret}`
}
